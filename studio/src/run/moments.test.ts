import { expect, test } from "vitest";
import { Ways } from "../app/ways.ts";
import type { Live } from "./live.ts";
import { momentSays, momentsOf } from "./moments.ts";

/** A run with losses of its flows, and round-trip times that grow with time. */
function run(losses: [time_s: number, flow: number][]): Live {
  return {
    started: { end_s: 100 },
    losses: async () => ({
      x: Float64Array.from(losses, ([time]) => time),
      flow: Uint32Array.from(losses, ([, flow]) => flow),
    }),
    series: async ({ to_s }: { to_s: number }) => ({
      x: Float64Array.of(0, 1, to_s),
      y: Float64Array.of(Number.NaN, 0.1, 0.1 + to_s),
    }),
  } as unknown as Live;
}

function ways(changes: [time_s: number, flow: number, nodes: number[]][]): Ways {
  const all = new Ways();
  const rows = changes.flatMap(([time, flow, nodes]) => nodes.map((node, hop) => [time, flow, hop, node]));
  const column = (at: number) => ({ values: Float64Array.from(rows, (row) => row[at] ?? 0) });
  const columns = { time_s: column(0), flow: column(1), hop: column(2), node: column(3) };
  all.add({ rows: rows.length, columns });
  return all;
}

const PATHS = ways([
  [0, 0, [0, 5, 1]],
  [0, 1, [0, 6, 2]],
  [3, 1, [0, 6, 2]],
  [7, 1, [0, 7, 2]],
]);

test("the first of loss and change of path comes first, with the round-trip time at that moment", async () => {
  const late = await momentsOf(run([[9, 0]]), PATHS, undefined);
  expect(late.map(({ kind, time_s, flow }) => [kind, time_s, flow])).toEqual([
    ["path", 7, 1],
    ["loss", 9, 0],
    ["start", 0, 0],
  ]);
  expect(late.map(({ roundTrip_s }) => roundTrip_s)).toEqual([7.1, 9.1, 0.1]);
});

test("moments of one flow leave out other flows", async () => {
  const losses = run([
    [2, 1],
    [4, 0],
  ]);
  expect((await momentsOf(losses, PATHS, 0)).map(({ kind, time_s }) => [kind, time_s])).toEqual([
    ["loss", 4],
    ["start", 0],
  ]);
});

test("a run without losses and changes has its start", async () => {
  const [only, ...rest] = await momentsOf(run([]), new Ways(), undefined);
  expect([only?.kind, rest]).toEqual(["start", []]);
  expect(only && momentSays(only)).toBe("start");
});
