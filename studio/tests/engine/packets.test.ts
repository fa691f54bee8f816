/** Packets in a window late in a long transfer have the correct byte offsets. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Door, decode, type Network, type Request } from "../../src/engine/protocol.ts";
import { Instance } from "../../src/engine/wasm.ts";
import { watched } from "../../src/run/window.ts";

const module = new WebAssembly.Module(readFileSync(new URL("../../public/engine.wasm", import.meta.url)));
const WRAP = 2 ** 32;

/** Returns a scenario with 12.5 GB/s in segments of 60 kB. */
const scenario = (trace: string) => `duration = "1.5 s"
[record]
trace = "${trace}"
[defaults.tcp]
mss = "60000 B"
receive_buffer = "1 GB"
[[links]]
between = ["a", "b"]
rate = "100 Gbit/s"
delay = "0.5 ms"
queue = "2 bdp"
[[flows]]
from = "a"
to = "b"
`;

test.each(["change", "off"])("with trace = %s", { timeout: 60_000 }, async (trace) => {
  const engine = await Instance.of(module);
  const door = { ask: async (request: Request) => decode(engine.ask(JSON.stringify(request))) } as unknown as Door;
  const input = { toml: scenario(trace) };
  const network = (await door.ask({ op: "network", ...input })) as Network;
  const window = { from_s: 1.2, to_s: 1.202, flow: 0 };
  const found = await watched(
    door,
    input,
    1,
    network,
    window,
    () => undefined,
    () => true,
  );
  const first = found?.first ?? Number.NaN;
  const data = found?.hops.kept.filter(({ len, backward }) => len > 0 && !backward) ?? [];
  const acks = found?.hops.kept.filter(({ backward }) => backward) ?? [];
  expect(data.length).toBeGreaterThan(100);
  const seqs = data.map(({ seq }) => seq - first);
  // At 100 Gbit/s: at most 15 GB in 1.2 s, and far more than a turn.
  expect(Math.min(...seqs)).toBeGreaterThan(2 * WRAP);
  expect(Math.max(...seqs)).toBeLessThan(1.25e10 * 1.202);
  expect(seqs.every((seq) => seq % 60_000 === 0 || seq > 0)).toBe(true);
  const acked = acks.map(({ ack }) => ack - first);
  expect(Math.max(...acked)).toBeLessThanOrEqual(Math.max(...seqs));
  expect(Math.max(...seqs) - Math.min(...acked)).toBeLessThan(1e8);
});
