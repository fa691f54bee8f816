import { expect, test } from "vitest";
import type { About } from "../engine/protocol.ts";
import { followed, keys, offers } from "./offers.ts";

const about = { congestion: [{ name: "cubic" }, { name: "bbr" }], profiles: [["linux", {}]] } as unknown as About;
const table = (properties: object) => ({ type: "object", properties });
const schema = {
  ...table({
    duration: { type: "string" },
    defaults: table({ tcp: table({ congestion: { type: "string" }, mss: { type: "string" } }) }),
    links: { type: "array", items: { $ref: "#/$defs/Link" } },
  }),
  $defs: {
    Link: table({ rate: { type: "string" }, queue: { anyOf: [{ type: "string" }, { $ref: "#/$defs/Queue" }] } }),
    Queue: {
      anyOf: [
        { type: "string" },
        table({ discipline: { const: "codel" }, limit: {} }),
        table({ discipline: { const: "token_bucket" }, rate: {} }),
      ],
    },
    Scheme: { oneOf: [{ const: "rack" }, { const: "sack" }] },
  },
};
const geo = { links: [{ queue: "1 bdp" }, { queue: { discipline: "red", limit: "64 kB" } }], flows: [{ from: "a" }] };
const made = (scenario: Record<string, unknown>) => offers(scenario, about, schema);
const sets = (scenario: Record<string, unknown>, key: string, value: string) =>
  made(scenario)
    .find((offer) => offer.key === key)
    ?.sets(value);

test("one algorithm applies to all flows, including those that name their own", () => {
  expect(sets(geo, "congestion", "bbr")).toEqual([["defaults.tcp.congestion", "bbr"]]);
  const own = { flows: [{ congestion: "cubic" }, {}, { tcp: { congestion: "vegas" } }] };
  expect(sets(own, "congestion", "bbr")).toEqual([
    ["defaults.tcp.congestion", "bbr"],
    ["flows.0.congestion", "bbr"],
    ["flows.2.congestion", "bbr"],
  ]);
  const turn = { defaults: { congestion: ["cubic", "vegas"] }, flows: [] };
  expect(sets(turn, "congestion", "bbr")).toEqual([["defaults.congestion", "[bbr]"]]);
});

test("a discipline keeps the size of each queue", () => {
  expect(made(geo).find(({ key }) => key === "discipline")?.values).toEqual(["codel"]);
  expect(sets(geo, "discipline", "codel")).toEqual([
    ["links.0.queue", '{ discipline = "codel", limit = "1 bdp" }'],
    ["links.1.queue", '{ discipline = "codel", limit = "64 kB" }'],
  ]);
  expect(sets({ topology: { queue: "1 bdp" } }, "queue", "2 bdp")).toEqual([["topology.queue", '"2 bdp"']]);
});

test("variants from offers adapt to another scenario; variants with edited keys are unchanged", () => {
  const variants = [
    { name: "bbr", sets: sets(geo, "congestion", "bbr") ?? [] },
    { name: "own", sets: [["links.0.rate", "1 Mbit/s"]] as [string, string][] },
    { name: "unchanged", sets: [] },
  ];
  const next = { flows: [{ congestion: "cubic" }] };
  expect(followed(variants, made(geo), made(next))).toEqual([
    { name: "bbr", sets: sets(next, "congestion", "bbr") },
    variants[1],
    variants[2],
  ]);
});

test("the keys of the schema for the existing sections are offered", () => {
  expect(keys(geo, schema)).toEqual([
    "duration",
    "defaults.tcp.congestion",
    "defaults.tcp.mss",
    "links.0.rate",
    "links.0.queue",
    "links.1.rate",
    "links.1.queue.discipline",
    "links.1.queue.limit",
    "links.1.queue.rate",
  ]);
});
