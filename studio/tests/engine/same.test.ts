/** The engine of the page computes what the native one does, byte for byte. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decode, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";

const ROOT = new URL("../../../", import.meta.url);
const WASM = new URL("studio/public/engine.wasm", ROOT);
const NATIVE = new URL("studio/public/hashes.json", ROOT);
/** One line per random scenario: its text, the files that it names, and the hash of a native build. */
const RANDOM = new URL(process.env.RANDOM_SCENARIOS ?? "target/studio/random.jsonl", ROOT);
/** Events per step, as in the page. */
const EVENTS = 100_000;

interface Written {
  toml: string;
  hash: string;
  files: Record<string, string>;
}

const module = new WebAssembly.Module(readFileSync(WASM));

async function hashOf(toml: string, files: Record<string, string> = {}): Promise<string> {
  const engine = await Instance.of(module);
  const ask = (request: Request) => decode(engine.ask(JSON.stringify(request))) as unknown as Record<string, unknown>;
  const inBase64 = Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  const started = ask({ op: "start", toml, files: Object.fromEntries(inBase64) });
  expect(started).not.toHaveProperty("errors");
  const run = started.run as number;
  while (!ask({ op: "step", run, until_s: 1e12, events: EVENTS }).over) {}
  return (ask({ op: "finish", run }).summary as { result_hash: string }).result_hash;
}

describe("shipped scenarios", () => {
  const { hashes } = JSON.parse(readFileSync(NATIVE, "utf8")) as { hashes: Record<string, string> };
  const names = readdirSync(new URL("scenarios/", ROOT)).filter((name) => name.endsWith(".toml"));

  test.each(names.map((name) => name.replace(".toml", "")))("%s", { timeout: 0 }, async (name) => {
    expect(await hashOf(readFileSync(new URL(`scenarios/${name}.toml`, ROOT), "utf8"))).toBe(hashes[name]);
  });
});

describe("random scenarios", () => {
  expect(existsSync(RANDOM), `${RANDOM.pathname} is missing: make test-studio writes it`).toBe(true);
  const lines = readFileSync(RANDOM, "utf8").trim().split("\n");
  const written = lines.map((line) => JSON.parse(line) as Written);

  test("there are two hundred of them", () => expect(written.length).toBeGreaterThanOrEqual(200));

  test.each(written.map((one, number) => [number, one] as const))("number %i", { timeout: 0 }, async (_, one) => {
    expect(await hashOf(one.toml, one.files), one.toml).toBe(one.hash);
  });
});
