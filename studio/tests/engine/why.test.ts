/** The page and the Python package explain a run's speed identically. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { analyseWith } from "../../src/engine/analysis.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { Course } from "../../src/run/course.ts";
import type { FromCourse, Result } from "../../src/run/messages.ts";

const ROOT = new URL("../../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? fileURLToPath(new URL(".venv/bin/python", ROOT));
const NAMES = [
  "geo",
  "lossy",
  "siot",
  "dumbbell",
  "traffic",
  "asymmetric",
  "mars",
  "long-fat",
  "scps-moon",
  "satellite-iot",
];
const module = new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT)));

async function resultOf(name: string): Promise<Result> {
  const engine = await Instance.of(module);
  analyseWith(engine);
  const told: FromCourse[] = [];
  const around = {
    post: (message: FromCourse) => told.push(message),
    clock: () => performance.now(),
    rest: () => new Promise<void>((go) => setImmediate(go)),
  };
  const course = new Course({ ask: (request) => engine.ask(JSON.stringify(request)) }, around);
  const toml = readFileSync(new URL(`scenarios/${name}.toml`, ROOT), "utf8");
  await course.receive({ kind: "start", input: { toml } });
  await course.receive({ kind: "go", how: "on" });
  const last = told.at(-1);
  if (last?.kind !== "finished") {
    throw new Error(`${name} does not finish: ${JSON.stringify(last)}`);
  }
  return last.result;
}

let expected: Record<string, unknown>;

beforeAll(() => {
  const script = fileURLToPath(new URL("../why.py", import.meta.url));
  expected = JSON.parse(execFileSync(PYTHON, [script, ...NAMES], { encoding: "utf8", maxBuffer: 1 << 26 }));
}, 300_000);

test.each(NAMES)("%s", { timeout: 120_000 }, async (name) => {
  const { account } = await resultOf(name);
  expect(account).toEqual(expected[name]);
});
