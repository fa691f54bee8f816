import { expect, test } from "vitest";
import type { Tables } from "../engine/protocol.ts";
import { hasRows, told } from "./step.ts";

const NAMES = { flows: ["a->b"], links: ["a->r", "r->b"], nodes: ["a", "r", "b"] };
const numbers = (...values: number[]) => ({ values: Float64Array.from(values) });
const TABLES: Tables = {
  trace: {
    rows: 1,
    columns: {
      flow: numbers(0),
      cwnd_segments: numbers(12.5),
      inflight_bytes: numbers(14480),
      phase: { ...numbers(1), names: ["open", "recovery"] },
    },
  },
  queue: { rows: 1, columns: { link: numbers(1), packets: numbers(7) } },
  drops: {
    rows: 1,
    columns: { flow: numbers(0), link: numbers(1), cause: { ...numbers(0), names: ["queue"] } },
  },
  packets: {
    rows: 2,
    columns: {
      flow: numbers(0, 0),
      node: numbers(1, 2),
      len: numbers(1448, 0),
      backward: numbers(0, 1),
      event: { ...numbers(0, 1), names: ["forwarded", "sent"] },
    },
  },
};

test("the records of a step are listed row by row, packets and drops first", () => {
  expect(told(TABLES, NAMES)).toEqual([
    "a segment of 1448 B of a->b is forwarded at r",
    "an ACK of a->b is sent at b",
    "a packet of a->b is dropped at r->b (queue)",
    "a->b: cwnd 12.5 segments, 14.48 kB in flight, recovery",
    "and 1 more",
  ]);
});

test("a sample of all queues lists the non-empty ones", () => {
  const sample = (...packets: number[]) => {
    const columns = { link: numbers(0, 1), packets: numbers(...packets) };
    return told({ queue: { rows: packets.length, columns } }, NAMES);
  };
  expect(sample(0)).toEqual(["0 packets wait at a->r"]);
  expect(sample(0, 1)).toEqual(["1 packet waits at r->b"]);
  expect(sample(0, 0)).toEqual(["no packet waits at any link"]);
});

test("empty tables have no rows", () => {
  expect([hasRows({}), hasRows({ trace: { rows: 0, columns: {} } }), hasRows(TABLES)]).toEqual([false, false, true]);
  expect(told({}, NAMES)).toEqual([]);
});
