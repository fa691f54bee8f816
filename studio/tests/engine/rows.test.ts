/** The tables and charts of a run's report have exactly the text and the values of the package. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { analyseWith } from "../../src/engine/analysis.ts";
import { type Door, decode, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { tablesOf } from "../../src/save/report/run.ts";
import { wholeRun } from "../../src/save/whole.ts";

const ROOT = new URL("../../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? fileURLToPath(new URL(".venv/bin/python", ROOT));
const SHIPPED = ["geo", "traffic", "siot", "asymmetric", "adhoc-chain", "search-and-rescue", "scps-moon", "lossy"];
/**
 * A scenario with a proxy, queues that drop and mark early or filter ACKs, duplicates, reordering and repair packets.
 */
const RARE = `name = "rare"
duration = "20 s"
[defaults.tcp]
ecn = "classic"
[[links]]
between = ["a", "p"]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { discipline = "codel", limit = "100 packets", ecn = true }
duplicate = 0.001
[[links]]
between = ["p", "b"]
rate = "5 Mbit/s"
delay = "250 ms"
loss = 1e-4
queue = "1 bdp"
reorder = { forward = { probability = 0.01, delay = "5 ms" } }
fec = { backward = { data = 10, repair = 2 } }
[[proxies]]
node = "p"
buffer = "1 MB"
[[flows]]
from = "a"
to = "b"
[[flows]]
from = "b"
to = "a"
congestion = "newreno"
`;

const scenarios: Record<string, string> = Object.fromEntries(
  SHIPPED.map((name) => [name, readFileSync(new URL(`scenarios/${name}.toml`, ROOT), "utf8")]),
);
scenarios.rare = RARE;
const module = new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT)));
let expected: Record<string, { tables: [string, Record<string, string>[]][]; charts: object[] }>;

beforeAll(() => {
  const script = fileURLToPath(new URL("../rows.py", import.meta.url));
  const input = JSON.stringify(scenarios);
  expected = JSON.parse(execFileSync(PYTHON, [script], { input, encoding: "utf8", maxBuffer: 1 << 26 }));
}, 300_000);

test.each(Object.keys(scenarios))("%s", { timeout: 120_000 }, async (name) => {
  const engine = await Instance.of(module);
  analyseWith(engine);
  const ask = async (request: Request) => decode(engine.ask(JSON.stringify(request)));
  const door = { ask, close: () => undefined } as unknown as Door;
  const run = await wholeRun({ toml: scenarios[name] as string }, {}, () => door);
  const rows = tablesOf(run).map(({ title, columns, rows }) => [
    title,
    rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))),
  ]);
  expect(rows).toEqual(expected[name]?.tables);
  expect(run.charts).toEqual(expected[name]?.charts);
});

test("every kind of chart is among them", () => {
  const names = Object.values(expected).flatMap(({ charts }) =>
    charts.map((chart) => (chart as { name: string }).name),
  );
  expect(new Set(names)).toEqual(new Set(["cwnd", "rtt", "goodput", "queue", "losses", "states"]));
});

test("every kind of table and rare column is among them", () => {
  const titles = new Set(Object.values(expected).flatMap(({ tables }) => tables.map(([title]) => title)));
  expect(titles).toEqual(new Set(["Flows", "Links", "Proxies", "Media", "Radios"]));
  const links = expected.rare?.tables.find(([title]) => title === "Links")?.[1][0] ?? {};
  expect(Object.keys(links)).toEqual(expect.arrayContaining(["marked", "duplicated", "reordered", "repair packets"]));
});
