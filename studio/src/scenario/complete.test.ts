import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { headers, inline, keys, words } from "./complete.ts";
import { Schemas } from "./schema.ts";
import { read } from "./values.ts";

const SCHEMA = new URL("../../public/schema.json", import.meta.url);

// The build of the studio writes the schema.
describe.skipIf(!existsSync(SCHEMA))("completion", () => {
  const known = new Schemas(existsSync(SCHEMA) ? JSON.parse(readFileSync(SCHEMA, "utf8")) : {});
  const labels = (options: { label: string }[]) => options.map(({ label }) => label);

  test("headings open tables and lists of tables", () => {
    const all = headers(known);
    expect(all.find(({ label }) => label === "links")?.apply).toBe("links]]");
    expect(all.find(({ label }) => label === "record")?.apply).toBe("record]");
    expect(labels(all)).toContain("defaults.tcp");
    expect(labels(all)).not.toContain("duration");
  });

  test("keys that the table does not have yet are offered, with their description", () => {
    const now = read('[[links]]\nbetween = ["a", "b"]\nrate = "1 Mbit/s"\n');
    const options = keys(known, ["links", 0], now);
    expect(labels(options)).toContain("delay");
    expect(labels(options)).not.toContain("rate");
    expect(options.find(({ label }) => label === "delay")).toMatchObject({ detail: "needed", apply: "delay = " });
    expect(options.find(({ label }) => label === "loss")?.info).toContain("loss");
  });

  test("a table of a kind has the keys of that kind only", () => {
    const now = read('[topology]\nkind = "swarm"\n');
    expect(labels(keys(known, ["topology"], now))).toContain("mobility");
    expect(labels(keys(known, ["topology"], now))).not.toContain("pairs");
  });

  test("values are keywords, examples and tables", () => {
    const now = read("[topology]\n");
    expect(labels(words(known, ["topology", "kind"], now))).toEqual(expect.arrayContaining(['"dumbbell"', '"swarm"']));
    expect(labels(words(known, ["defaults", "tcp", "sack"], {}))).toEqual(["true", "false"]);
    expect(labels(words(known, ["flows", 0, "congestion"], {}))).toEqual(expect.arrayContaining(['"cubic"', '"bbr"']));
    expect(labels(words(known, ["links", 0, "rate"], {}))).toContain('"10 Mbit/s"');
    expect(labels(words(known, ["flows", 0, "transport"], {}))).toEqual(['"tcp"', '"quic"', '"udp"']);
  });

  test("an invalid path has no completions", () => {
    expect(keys(known, ["nothing", 3], {})).toEqual([]);
    expect(words(known, ["links", 0, "nothing"], {})).toEqual([]);
  });
});

test("values are written as TOML reads them", () => {
  const value = { a: 1, "b c": ["x", true], d: { e: "" } };
  expect(read(`v = ${inline(value)}`)?.v).toEqual(value);
});
