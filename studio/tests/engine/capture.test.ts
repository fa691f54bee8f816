/** An imported capture gives the scenario that `lightlag import` writes. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decode, type Findings, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { scenarioOf } from "../../src/scenario/capture.ts";

const ROOT = new URL("../../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? new URL(".venv/bin/python", ROOT).pathname;
const module = new WebAssembly.Module(readFileSync(new URL("studio/public/engine.wasm", ROOT)));

test.each(["geo", "lossy", "asymmetric"])("of %s", { timeout: 0 }, async (name) => {
  const engine = await Instance.of(module);
  const bytes = (request: Request) => engine.ask(JSON.stringify(request));
  const ask = (request: Request) => decode(bytes(request)) as unknown as Record<string, unknown>;
  const toml = readFileSync(new URL(`scenarios/${name}.toml`, ROOT), "utf8");
  const { run } = ask({ op: "start", toml, sets: [["record.pcap", "{}"]], captures: true }) as { run: number };
  while (!ask({ op: "step", run, until_s: 1e12, events: 100_000 }).over) {}
  const { captures } = ask({ op: "finish", run }) as { captures: { name: string; data: Uint8Array }[] };
  expect(captures.length).toBeGreaterThan(0);
  const folder = mkdtempSync(join(tmpdir(), "lightlag-"));
  try {
    for (const capture of captures) {
      const file = join(folder, capture.name);
      writeFileSync(file, capture.data);
      execFileSync(PYTHON, [
        "-m",
        "lightlag",
        "import",
        file,
        "--out",
        join(folder, `${capture.name.replace(".pcapng", "")}.toml`),
      ]);
      const data = Buffer.from(capture.data).toString("base64");
      const ours = scenarioOf(capture.name, ask({ op: "inspect", data }) as unknown as Findings);
      const theirs = readFileSync(join(folder, `${capture.name.replace(".pcapng", "")}.toml`), "utf8");
      expect(ours).toBe(theirs.replace(/^#:schema .*\n\n?/, ""));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
