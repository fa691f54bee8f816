/** The page and the Python package measure the same causes, and say the same about them. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { Pool } from "../../src/engine/pool.ts";
import { type Door, decode, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { Measuring } from "../../src/run/why/measuring.ts";

const ROOT = new URL("../../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? fileURLToPath(new URL(".venv/bin/python", ROOT));
const module = new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT)));

/** Returns a scenario of two flows over a link with these keys. */
const pair = (link: string, flow: string) => `duration = "20 s"
[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "50 ms"
${link}
[[flows]]
from = "a"
to = "b"
${flow}
[[flows]]
from = "b"
to = "a"
transfer = "1 MB"
start = "6 s"
`;
const SCENARIOS = {
  "random losses": pair('queue = "1 bdp"\nloss = { forward = 0.01, backward = 0.02 }', ""),
  "a small receive buffer": pair('queue = "1 bdp"', 'tcp = { receive_buffer = "32 kB" }'),
  "a long queue": pair('queue = "500 packets"', ""),
  "QUIC after an outage": pair(
    'changes = [{ at = "2 s", down = true }, { at = "5 s", down = false }]',
    'transport = "quic"\ntransfer = "2 MB"',
  ),
};
const NAMES = Object.keys(SCENARIOS) as (keyof typeof SCENARIOS)[];

async function door(): Promise<Door> {
  const engine = await Instance.of(module);
  const ask = async (request: Request) => decode(engine.ask(JSON.stringify(request)));
  return { ask, close: () => undefined } as unknown as Door;
}

let expected: { headline: string; sentences: string[]; rows: string[][] }[];

beforeAll(() => {
  const script = fileURLToPath(new URL("../causes.py", import.meta.url));
  const input = JSON.stringify(NAMES.map((name) => SCENARIOS[name]));
  expected = JSON.parse(execFileSync(PYTHON, [script], { encoding: "utf8", input }));
}, 300_000);

test.each(NAMES)("%s", { timeout: 120_000 }, async (name) => {
  const toml = SCENARIOS[name];
  const engine = await door();
  const started = await engine.ask({ op: "start", toml });
  await engine.ask({ op: "step", run: started.run, until_s: started.end_s });
  const { summary } = await engine.ask({ op: "finish", run: started.run });
  const measuring = new Measuring({ toml }, summary, () => new Pool([engine]));
  await measuring.measure();
  expect(measuring.fault.value).toBe("");
  const { headline, sentences, table } = measuring.causes.value ?? { table: { rows: [] } };
  expect({ headline, sentences, rows: table.rows }).toEqual(expected[NAMES.indexOf(name)]);
  expect(table.rows.length).toBeGreaterThan(0);
});
