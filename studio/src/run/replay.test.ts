import { expect, test } from "vitest";
import type { Door, Network, Request } from "../engine/protocol.ts";
import { Hops } from "./hops.ts";
import { Queues } from "./queues.ts";
import { partOf, replayOf } from "./replay.ts";

test("two round trips around a loss are shown, and more of a start", () => {
  const loss = { kind: "loss", time_s: 10, flow: 0, roundTrip_s: 0.5 } as const;
  expect(partOf(loss, 60, 1000)).toEqual({ from_s: 9.75, to_s: 10.75, margin_s: 0.5 });
  expect(partOf({ ...loss, kind: "start", time_s: 0 }, 60, 1000)).toEqual({ from_s: 0, to_s: 2, margin_s: 0.5 });
});

test("the part ends with the run, starts with it, and is shorter where packets are many", () => {
  const loss = { kind: "loss", time_s: 0.1, flow: 0, roundTrip_s: 0.4 } as const;
  expect(partOf(loss, 0.5, 0)).toMatchObject({ from_s: 0, to_s: 0.5 });
  const { from_s, to_s } = partOf({ ...loss, time_s: 5 }, 60, 1e6);
  expect(to_s - from_s).toBeCloseTo(0.02);
  expect(from_s).toBeLessThan(5);
});

const column = (...values: number[]) => ({ values: Float64Array.from(values) });

/** An engine whose run has a packet from node 0 to node 1, and two records of a queue. */
function door(asked: Request[]): Door {
  const tables = {
    packets: {
      rows: 2,
      columns: {
        time_s: column(1, 1.3),
        packet: column(1, 1),
        flow: column(0, 0),
        node: column(0, 1),
        link: column(0, 4294967295),
        event: { values: Float64Array.of(0, 2), names: ["sent", "forwarded", "received", "dropped"] },
        backward: column(0, 0),
        seq: column(0, 0),
        ack: column(0, 0),
        len: column(1000, 1000),
      },
    },
    queue: { rows: 3, columns: { time_s: column(0.1, 0.99, 1.2), link: column(0, 0, 0), packets: column(9, 3, 5) } },
  };
  // The engine rounds the end of a step to a nanosecond.
  const answers = { start: { run: 0 }, step: { now_s: 1.7999999999, events: 1, over: false, tables }, close: {} };
  return {
    ask: async (request: Request) => {
      asked.push(request);
      return answers[request.op as "start"] as never;
    },
    close: () => undefined,
  };
}

test("a replay is a run with the same seed that records its packets and queues", async () => {
  const asked: Request[] = [];
  const link = { name: "l", from: 0, to: 1, rate_bps: 1e6, delay_s: 0.25 };
  const nodes = [{ name: "a" }, { name: "b" }];
  const network = { links: [link], nodes, more: { links: 0 } } as unknown as Network;
  const part = { from_s: 1, to_s: 1.6, margin_s: 0.2 };
  const input = { toml: "x", sets: [["seed", "4"]] as [string, string][] };
  const replay = await replayOf(
    door(asked),
    input,
    7,
    network,
    part,
    60,
    () => undefined,
    () => true,
  );
  expect(asked[0]).toMatchObject({ op: "start", toml: "x", seed: 7, packets: { from_s: 0.8, to_s: 1.8 } });
  expect(asked[0]).toMatchObject({
    sets: [["seed", "4"], ["record.trace", "change"], ["record.queue", "sampled"], {}],
  });
  expect(replay).toMatchObject({ from_s: 1, to_s: 1.6, now_s: 1, isPlaying: true });
  expect(replay?.longest_s).toBeCloseTo(0.25, 1);
  // The record before the part applies at its start.
  expect(replay?.queues.map(({ queue }) => [...(queue?.columns.packets?.values ?? [])])).toEqual([[3, 5]]);
});

test("a replay ends when its view is closed", async () => {
  const network = { links: [], nodes: [], more: { links: 0 } } as unknown as Network;
  const part = { from_s: 0, to_s: 1, margin_s: 0 };
  expect(
    await replayOf(
      door([]),
      { toml: "" },
      1,
      network,
      part,
      9,
      () => undefined,
      () => false,
    ),
  ).toBeUndefined();
});

test("queues and hops of a replay are found at any time", () => {
  const queues = new Queues(true);
  queues.add({
    queue: { rows: 3, columns: { time_s: column(1, 2, 3), link: column(0, 0, 0), packets: column(4, 5, 6) } },
  });
  expect([3.5, 1.5, 2.5, 0.5].map((time) => queues.at(0, time))).toEqual([6, 4, 5, 4]);
  const hops = new Hops([]);
  hops.kept.push(...[1, 2, 2.5, 4].map((start) => ({ start }) as (typeof hops.kept)[number]));
  expect(hops.around(3, 1.2).map(({ start }) => start)).toEqual([2, 2.5]);
  expect(hops.around(0.5, 1)).toEqual([]);
});
