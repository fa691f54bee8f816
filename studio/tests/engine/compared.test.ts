/** The charts of a comparison have exactly the values of the package. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../../src/compare/campaign.ts";
import { charts } from "../../src/compare/charts.ts";
import { Comparison } from "../../src/compare/comparison.ts";
import { analyseWith } from "../../src/engine/analysis.ts";
import { Pool } from "../../src/engine/pool.ts";
import { type Door, decode, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { type Chart, json, type Line, type LinePanel } from "../../src/save/report/charts.ts";

const ROOT = new URL("../../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? fileURLToPath(new URL(".venv/bin/python", ROOT));
const NAMES = ["geo", "heterogeneous", "siot", "traffic", "scps-moon"];
const ALGORITHMS = ["cubic", "hybla"];
const DURATION = "20 s";
const SEEDS = [1, 2, 3];
const module = new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT)));

interface Expected {
  hashes: string[];
  charts: { name: string; title: string; says: string[]; panels: object[] }[];
}

let expected: Record<string, Expected>;

beforeAll(() => {
  const script = fileURLToPath(new URL("../compared.py", import.meta.url));
  const options = { encoding: "utf8" as const, maxBuffer: 1 << 28 };
  expected = JSON.parse(execFileSync(PYTHON, [script, ALGORITHMS.join(), DURATION, ...NAMES], options));
}, 300_000);

async function engine(): Promise<Door> {
  const instance = await Instance.of(module);
  analyseWith(instance);
  const ask = async (request: Request) => decode(instance.ask(JSON.stringify(request)));
  return { ask, close: () => undefined } as Door;
}

async function comparison(name: string): Promise<Comparison> {
  const toml = readFileSync(new URL(`scenarios/${name}.toml`, ROOT), "utf8");
  const contestants = ALGORITHMS.map((algorithm) => ({
    name: algorithm,
    isRandom: true,
    input: {
      toml,
      sets: [
        ["duration", DURATION],
        ["defaults.tcp.congestion", algorithm],
      ] as [string, string][],
    },
  }));
  const only = await engine();
  const campaign = new Campaign(() => new Pool([only]));
  await campaign.run(contestants, SEEDS);
  expect([...campaign.faults.value]).toEqual([]);
  return new Comparison(contestants.map((one) => ({ ...one, outcomes: campaign.of(one.input, SEEDS) })));
}

/**
 * Converts a panel to the form of the Python package: equal steps are written as their first value and their distance.
 */
function unfolded({ series, ...panel }: Omit<LinePanel, "says">): object {
  const places = (line: Omit<Line, "x"> & { x: number[] | { from: number; by: number } }) => {
    const { x, y } = line;
    return Array.isArray(x) ? x : y.map((_, at) => Number((x.from + at * x.by).toPrecision(6)));
  };
  return series ? { ...panel, series: series.map((line) => ({ ...line, x: places(line) })) } : panel;
}

test.each(NAMES)("%s", { timeout: 120_000 }, async (name) => {
  const found = await comparison(name);
  const { hashes, charts: theirs } = expected[name] as Expected;
  expect(found.contenders.flatMap(({ outcomes }) => outcomes.map(({ result_hash }) => result_hash))).toEqual(hashes);
  // Bars show the metrics of tables; the metrics of the page differ.
  const ours = charts(found, 1).filter(({ name }) => name !== "bars");
  expect(ours.map(({ name }) => name)).toEqual(theirs.map(({ name }) => name));
  for (const [at, chart] of ours.entries()) {
    const { panels } = json(chart as Chart) as { panels: Omit<LinePanel, "says">[] };
    expect(panels.map(unfolded), chart.name).toEqual(
      theirs[at]?.panels.map((panel) => unfolded(panel as Omit<LinePanel, "says">)),
    );
    expect(chart.panels.map(({ says }) => says)).toEqual(theirs[at]?.says);
    expect(chart.title).toBe(theirs[at]?.title);
  }
});
