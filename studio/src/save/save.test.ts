import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { strFromU8, unzipSync } from "fflate";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { type Door, EngineError, type Request } from "../engine/protocol.ts";
import type { Summed } from "../engine/results.gen.ts";
import { csv, field } from "./csv.ts";
import { fileName, zipped } from "./download.ts";
import { parquet } from "./parquet.ts";
import { type Sheet, sheets } from "./sheet.ts";
import { wholeRun } from "./whole.ts";

const python = process.env.PYTHON ?? fileURLToPath(new URL("../../../.venv/bin/python", import.meta.url));

const lists = { flows: ['a->b, "fast"', "c->d"], links: ["a->b"], nodes: [] };
const dictionary = [
  {
    name: "flows",
    columns: [
      { name: "name", kind: "text", keys: ["name"], optional: false, omitted: false },
      { name: "finish_s", kind: "number", keys: ["finish_s"], optional: false, omitted: false },
      { name: "failure", kind: "text", keys: ["failure"], optional: false, omitted: true },
      { name: "sent_segments", kind: "count", keys: ["sent_segments"], optional: false, omitted: false },
      { name: "limited_cwnd_s", kind: "number", keys: ["limited_s", "cwnd"], optional: false, omitted: false },
      { name: "pages_count", kind: "count", keys: ["pages", "count"], optional: true, omitted: false },
    ],
  },
  {
    name: "drops",
    columns: [
      { name: "time_s", kind: "number", keys: [], optional: false, omitted: false },
      { name: "flow", kind: "text", keys: [], optional: false, omitted: false },
      { name: "backward", kind: "flag", keys: [], optional: false, omitted: false },
      { name: "bytes", kind: "count", keys: [], optional: false, omitted: false },
      { name: "cause", kind: "text", keys: [], optional: false, omitted: false },
    ],
  },
];
const summary = {
  flows: [
    { name: 'a->b, "fast"', finish_s: null, sent_segments: 2 ** 40, limited_s: { cwnd: 1.5 } },
    { name: "c->d", finish_s: 12.25, failure: "no answer", sent_segments: 7, limited_s: { cwnd: 0 } },
  ],
};
const tables = {
  drops: {
    rows: 2,
    columns: {
      time_s: { values: Float64Array.of(0.5, Number.NaN) },
      flow: { values: Uint32Array.of(1, 0), names: "flows" as const },
      backward: { values: Uint8Array.of(0, 1) },
      bytes: { values: Uint32Array.of(1500, 40) },
      cause: { values: Uint8Array.of(1, 0), names: ["queue", "error"] },
    },
  },
};
const made = () => sheets(dictionary, summary as Partial<Summed>, tables, lists);

describe("tables", () => {
  test("have the columns of the dictionary, without groups that are missing in all rows", () => {
    const [flows, drops] = made();
    expect(flows?.columns.map(({ name }) => name)).toEqual([
      "name",
      "finish_s",
      "failure",
      "sent_segments",
      "limited_cwnd_s",
    ]);
    expect(drops?.columns.map(({ at }) => at(0))).toEqual([0.5, "c->d", false, 1500, "error"]);
    expect(drops?.columns[0]?.at(1)).toBeNull();
  });

  test("as CSV", () => {
    expect(made().map(csv)).toEqual([
      'name,finish_s,failure,sent_segments,limited_cwnd_s\n"a->b, ""fast""",,,1099511627776,1.5\nc->d,12.25,no answer,7,0\n',
      'time_s,flow,backward,bytes,cause\n0.5,c->d,false,1500,error\n,"a->b, ""fast""",true,40,queue\n',
    ]);
  });

  test("a field with any text is read back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const written = field(text);
        const read = written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
        expect(read).toBe(text);
        expect(/[",\n\r]/.test(written)).toBe(written.startsWith('"'));
      }),
    );
  });

  test("as Parquet, read back by hyparquet", async () => {
    const [flows, drops] = made();
    expect(await parquetReadObjects({ file: parquet(flows as Sheet) })).toEqual([
      { name: 'a->b, "fast"', finish_s: null, failure: null, sent_segments: 2n ** 40n, limited_cwnd_s: 1.5 },
      { name: "c->d", finish_s: 12.25, failure: "no answer", sent_segments: 7n, limited_cwnd_s: 0 },
    ]);
    expect(await parquetReadObjects({ file: parquet(drops as Sheet) })).toEqual([
      { time_s: 0.5, flow: "c->d", backward: false, bytes: 1500, cause: "error" },
      { time_s: null, flow: 'a->b, "fast"', backward: true, bytes: 40, cause: "queue" },
    ]);
  });

  test("tables of any size are read back by hyparquet", async () => {
    const rows = fc.array(fc.record({ text: fc.option(fc.string()), number: fc.option(fc.double({ noNaN: true })) }));
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const column = (name: "text" | "number") => {
          const at = (row: number) => given[row]?.[name] ?? null;
          return { name, kind: name, bits: 64 as const, at, hasGaps: true };
        };
        const file = parquet({ name: "x", rows: given.length, columns: [column("text"), column("number")] });
        const read = await parquetReadObjects({ file });
        expect(read).toEqual(given.map(({ text, number }) => ({ text, number: number === null ? null : number })));
      }),
      { numRuns: 60 },
    );
  });

  test.skipIf(!existsSync(python))(
    "as Parquet, read back by polars with the types of a results directory",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "lightlag-"));
      try {
        for (const sheet of made()) {
          writeFileSync(join(folder, `${sheet.name}.parquet`), new Uint8Array(parquet(sheet)));
        }
        const script = `
import polars as pl, sys, json
directory = sys.argv[1]
print(json.dumps([[[*map(str, pl.read_parquet(f"{directory}/{name}.parquet").schema.values())],
  pl.read_parquet(f"{directory}/{name}.parquet").rows()] for name in ("flows", "drops")]))`;
        expect(JSON.parse(execFileSync(python, ["-c", script, folder]).toString())).toEqual([
          [
            ["String", "Float64", "String", "UInt64", "Float64"],
            [
              ['a->b, "fast"', null, null, 2 ** 40, 1.5],
              ["c->d", 12.25, "no answer", 7, 0],
            ],
          ],
          [
            ["Float64", "String", "Boolean", "UInt32", "String"],
            [
              [0.5, "c->d", false, 1500, "error"],
              [null, 'a->b, "fast"', true, 40, "queue"],
            ],
          ],
        ]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    60_000,
  );
});

test("files go into one, the same bytes for the same files", async () => {
  const files = [
    { name: "a.csv", content: "x\n1\n" },
    { name: "../b/c.bin", content: Uint8Array.of(1, 2, 3) },
  ];
  const [one, again] = [await zipped("all.zip", files), await zipped("all.zip", files)];
  expect(one).toEqual(again);
  const read = unzipSync(one.content as Uint8Array);
  expect(Object.keys(read)).toEqual(["a.csv", "-b-c.bin"]);
  expect(strFromU8(read["a.csv"] as Uint8Array)).toBe("x\n1\n");
  expect(fileName("../../etc/passwd")).toBe("-..-etc-passwd");
  expect(fileName("...")).toBe("lightlag");
});

describe("a complete run", () => {
  /** An engine whose run is over after three steps. */
  function door(answers: Partial<Record<Request["op"], unknown>> = {}): {
    open: () => Door;
    asked: Request[];
    closed: () => number;
  } {
    const asked: Request[] = [];
    let [steps, closed] = [0, 0];
    const usual: Record<string, unknown> = {
      check: { errors: [], warnings: [], scenario: { record: {} } },
      start: { run: 4, end_s: 9, seed: 5, flows: ["f"], links: [], nodes: [] },
      finish: { summary: { result_hash: "h" }, interrupted: false, tables: {}, captures: [] },
    };
    const ask = async (request: Request) => {
      asked.push(request);
      return request.op === "step" ? { over: ++steps === 3 } : (answers[request.op] ?? usual[request.op]);
    };
    return { open: () => ({ ask, close: () => closed++ }) as unknown as Door, asked, closed: () => closed };
  }

  test("runs from start to end, with captures at both endpoints if the scenario has none", async () => {
    const { open, asked, closed } = door();
    const run = await wholeRun({ toml: "t", sets: [["a", "1"]] }, { seed: 5, captures: true }, open);
    expect(run).toMatchObject({ seed: 5, flows: ["f"], summary: { result_hash: "h" } });
    expect(asked.map(({ op }) => op)).toEqual(["check", "start", "step", "step", "step", "finish"]);
    const sets = [
      ["a", "1"],
      ["record.pcap", "{}"],
    ];
    expect(asked[1]).toEqual({ op: "start", toml: "t", sets, seed: 5, captures: true });
    expect(closed()).toBe(1);
  });

  test("an invalid scenario and a failed run raise errors, and the engine is closed", async () => {
    const wrong = door({ start: { errors: [{ path: "links[0].rate", message: "has no unit" }] } });
    await expect(wholeRun({ toml: "t" }, {}, wrong.open)).rejects.toThrow(
      new EngineError("links[0].rate: has no unit"),
    );
    const failed = door({ finish: { summary: {}, failed: "a, it failed", tables: {}, captures: [] } });
    await expect(wholeRun({ toml: "t" }, {}, failed.open)).rejects.toThrow("a, it failed");
    expect(wrong.closed() + failed.closed()).toBe(2);
  });
});
