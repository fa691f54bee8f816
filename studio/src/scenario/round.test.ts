import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presets } from "../app/presets.ts";
import { type Checked, decode, type Request } from "../engine/protocol.ts";
import { Instance } from "../engine/wasm.ts";
import { inside, isTable, type Path, written } from "./path.ts";
import { Schemas } from "./schema.ts";
import type { Schema } from "./shapes.ts";
import { parts, read } from "./values.ts";

const PUBLIC = new URL("../../public/", import.meta.url);
const ENGINE = new URL("engine.wasm", PUBLIC);
const SCHEMA = new URL("schema.json", PUBLIC);
const isBuilt = existsSync(ENGINE) && existsSync(SCHEMA);

/** Returns the paths of all values inside a value, at every depth. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const steps: Path = Array.isArray(value) ? value.map((_, index) => index) : isTable(value) ? Object.keys(value) : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...steps.flatMap((step) => pathsOf(inside(value, step), [...path, step])),
  ];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce(inside, value);
}

function comments(text: string): string[] {
  return text.match(/#[^\n"]*/g) ?? [];
}

// The build of the studio writes the engine and the schema.
describe.skipIf(!isBuilt)("the form and the text", async () => {
  const engine = isBuilt ? await Instance.of(await WebAssembly.compile(readFileSync(ENGINE))) : undefined;
  const schema: Schema = isBuilt ? JSON.parse(readFileSync(SCHEMA, "utf8")) : {};
  const known = new Schemas(schema);
  const ask = <T>(request: Request) => decode(engine?.ask(JSON.stringify(request)) ?? new ArrayBuffer(0)) as T;
  const edit = (toml: string, path: Path, value: unknown) =>
    parts(path, value).reduce<string>(
      (text, part) => ask<{ toml: string }>({ op: "edit", toml: text, path: written(path), value: part }).toml,
      toml,
    );
  ask({ op: "schema", schema });

  test.each(presets.map(({ name, toml }) => [name, toml]))(
    "%s is valid, and the form has each of its keys",
    (_, toml) => {
      expect(ask<Checked>({ op: "check", toml }).errors).toEqual([]);
      const values = read(toml);
      for (const path of pathsOf(values)) {
        const here = known.at(path, values);
        expect(here, written(path)).toBeDefined();
        const value = at(values, path);
        expect(here && known.fit(here, value)?.kind, written(path)).toEqual(kindOf(value));
      }
    },
  );

  test.each(presets.map(({ name, toml }) => [name, toml]))("%s: rewriting a value changes nothing", (_, toml) => {
    const values = read(toml);
    let text = toml;
    for (const path of pathsOf(values).filter((path) => typeof at(values, path) !== "object")) {
      text = edit(text, path, at(values, path));
    }
    expect(read(text)).toEqual(values);
    expect(comments(text)).toEqual(comments(toml));
  });

  test("each form of each value can be written, read and removed, and nothing else changes", () => {
    const places = presets.flatMap(({ toml }) => pathsOf(read(toml)).map((path) => ({ toml, path })));
    fc.assert(
      fc.property(fc.nat(places.length - 1), fc.nat(), fc.nat(), (which, field, form) => {
        const { toml, path } = places[which] as (typeof places)[number];
        const values = read(toml);
        const table = known.at(path.slice(0, -1), values) ?? known.root;
        const there = at(values, path.slice(0, -1));
        const fields = known.fields(table, there);
        const chosen = fields.length > 0 && isTable(there) ? fields[field % fields.length] : undefined;
        const target = chosen ? [...path.slice(0, -1), chosen.key] : path;
        const targetSchema = known.at(target, values);
        const shapes = targetSchema ? known.shapes(targetSchema) : [];
        const value = targetSchema && known.skeleton(targetSchema, shapes[form % Math.max(1, shapes.length)]);
        if (value === undefined || (Array.isArray(value) && value.length === 0)) {
          return;
        }
        const text = edit(toml, target, value);
        expect(at(read(text), target)).toEqual(value);
        const back = edit(text, target, at(values, target) ?? null);
        expect(read(back)).toEqual(values);
        if (at(values, target) === undefined) {
          expect(comments(back)).toEqual(comments(toml));
        }
      }),
      { numRuns: 300, seed: 20 },
    );
  });

  test("any text and number is read back unchanged", () => {
    const toml = presets[0]?.toml ?? "";
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "grapheme" }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
        (value) => {
          const text = edit(toml, ["name"], value);
          const name = read(text)?.name;
          expect(typeof value === "number" ? Number(name) : name).toEqual(value === 0 ? 0 : value);
        },
      ),
      { numRuns: 300, seed: 21 },
    );
  });

  test("a table of a link is inline, a table of the scenario has its own heading", () => {
    const toml = '[[links]]\nrate = "1 Mbit/s"\n';
    expect(edit(toml, ["links", 0, "loss"], { rate: 0.1 })).toBe(`${toml}loss = { rate = 0.1 }\n`);
    expect(edit(toml, ["links", 0, "rate"], { forward: "2 Mbit/s" })).toBe(
      '[[links]]\nrate = { forward = "2 Mbit/s" }\n',
    );
    expect(edit(toml, ["record"], { acks: true })).toContain("[record]\nacks = true\n");
  });

  test("the engine accepts a new link, flow, station and node of the form", () => {
    for (const section of ["links", "flows", "stations", "nodes", "media", "proxies"]) {
      const list = known.at([section], {});
      const item = list && known.skeleton(known.at([section, 0], {}) ?? {});
      const text = edit('duration = "1 s"\n', [section, 0], item);
      expect(at(read(text), [section, 0]), section).toEqual(item);
    }
  });
});

function kindOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return "list";
  }
  const kinds: Record<string, unknown> = { boolean: "flag", number: "number", bigint: "number", object: "table" };
  return kinds[typeof value] ?? expect.stringMatching(/^(word|text)$/);
}
