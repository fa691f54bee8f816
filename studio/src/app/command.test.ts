import { expect, test } from "vitest";
import { differences, quoted } from "./command.tsx";

const BASE = { name: "a", links: [{ rate: "1 Gbit/s" }, { rate: "20 Mbit/s", loss: 1e-4 }] };

test("differences of values are settings", () => {
  const changed = {
    ...BASE,
    links: [BASE.links[0], { rate: "20 Mbit/s", loss: 0.003 }],
    defaults: { tcp: { sack: true } },
  };
  expect(differences(BASE, changed)).toEqual([
    ["links.1.loss", "0.003"],
    ["defaults.tcp.sack", "true"],
  ]);
});

test("removed keys or items cannot be settings", () => {
  expect(differences(BASE, { name: "a", links: [BASE.links[0]] })).toBeUndefined();
  expect(differences(BASE, { name: "a" })).toBeUndefined();
  expect(differences(BASE, BASE)).toEqual([]);
});

test.each([
  ["links.1.loss=0.003", "links.1.loss=0.003"],
  ["links.1.rate=25 Mbit/s", "'links.1.rate=25 Mbit/s'"],
  ["name=it's", "'name=it'\\''s'"],
])("%s is quoted for a shell", (word, expected) => {
  expect(quoted(word)).toBe(expected);
});
