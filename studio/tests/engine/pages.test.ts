/** The page and the Python package read the same loads of pages from a run. */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { analyseWith } from "../../src/engine/analysis.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { Course } from "../../src/run/course.ts";
import type { FromCourse } from "../../src/run/messages.ts";
import { arrivedOf, connectionsOf, type PageLoad } from "../../src/save/pages.ts";

const ROOT = new URL("../../../", import.meta.url);
const PAGE = new URL("tests/data/page.json", ROOT);
const PYTHON = process.env.PYTHON ?? fileURLToPath(new URL(".venv/bin/python", ROOT));
/** Two flows with pages. The second load of the second flow does not end. */
const TOML = `name = "pages"
duration = "4.3 s"
[defaults.setup]
tls = "1.3"
[[links]]
between = ["server", "client"]
rate = "10 Mbit/s"
delay = "40 ms"
[[flows]]
name = "over four"
from = "server"
to = "client"
traffic = { kind = "page", file = "page.json", connections = 4, think = "1 s", count = 2 }
[[flows]]
name = "over one"
from = "server"
to = "client"
traffic = { kind = "page", file = "page.json", http = "2", think = "2.5 s", count = 2 }
`;

interface Expected {
  load: PageLoad;
  connections: string[];
  arrived: object;
}

function expected(): Record<string, Expected[]> {
  const folder = mkdtempSync(join(tmpdir(), "lightlag-"));
  try {
    writeFileSync(join(folder, "pages.toml"), TOML);
    copyFileSync(PAGE, join(folder, "page.json"));
    const script = fileURLToPath(new URL("../pages.py", import.meta.url));
    return JSON.parse(execFileSync(PYTHON, [script, join(folder, "pages.toml")], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("loads of pages", { timeout: 120_000 }, async () => {
  const engine = await Instance.of(new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT))));
  analyseWith(engine);
  const told: FromCourse[] = [];
  const around = {
    post: (message: FromCourse) => told.push(message),
    clock: () => performance.now(),
    rest: () => new Promise<void>((go) => setImmediate(go)),
  };
  const course = new Course({ ask: (request) => engine.ask(JSON.stringify(request)) }, around);
  const files = { "page.json": readFileSync(PAGE).toString("base64") };
  await course.receive({ kind: "start", input: { toml: TOML, files } });
  await course.receive({ kind: "go", how: "on" });
  const last = told.at(-1);
  if (last?.kind !== "finished") {
    throw new Error(`the run does not finish: ${JSON.stringify(last)}`);
  }
  const found: Record<string, Expected[]> = {};
  for (const { flow, pages } of last.result.pages) {
    for (const page of pages) {
      await course.receive({ kind: "ask", id: page, query: { what: "page", flow, page } });
      const answer = told.at(-1);
      if (answer?.kind !== "answer") {
        throw new Error(`load ${page} of flow ${flow} has no answer: ${JSON.stringify(answer)}`);
      }
      const load = answer.answer as PageLoad;
      found[load.flow] ??= [];
      found[load.flow]?.push({ load, connections: connectionsOf(load), arrived: arrivedOf(load) });
    }
  }
  expect(found).toEqual(expected());
  expect(Object.values(found).map((loads) => loads.map(({ load }) => load.took_s !== undefined))).toEqual([
    [true, true],
    [true, false],
  ]);
  await course.receive({ kind: "ask", id: 9, query: { what: "page", flow: 0, page: 3 } });
  expect(told.at(-1)).toMatchObject({ kind: "no answer", message: "no object of load 3 of this page arrived" });
});
