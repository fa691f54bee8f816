import { expect, test } from "vitest";
import type { Table } from "../engine/protocol.ts";
import { Gathered } from "./facts.ts";
import { Store } from "./store.ts";

/** A table with these columns; names of categories follow in a second argument. */
function table(columns: Record<string, number[]>, names: Record<string, string[]> = {}): Table {
  const rows = Object.values(columns)[0]?.length ?? 0;
  const entries = Object.entries(columns).map(([name, values]) => [
    name,
    { values: Float64Array.from(values), ...(names[name] ? { names: names[name] } : {}) },
  ]);
  return { rows, columns: Object.fromEntries(entries) };
}

const trace = table(
  {
    time_s: [0, 1, 1, 2, 4],
    flow: [0, 0, 1, 0, 0],
    cwnd_segments: [10, 20, 5, 12, 40],
    arrived_bytes: [0, 1000, 50, 2000, 4000],
    rtt_s: [0.1, 0.2, 0.3, 0.1, 0.1],
    sent_bytes: [0, 0, 0, 0, 5000],
    phase: [0, 1, 0, 1, 0],
  },
  { phase: ["open", "recovery", "loss"] },
);
const drops = table(
  {
    time_s: [1, 1.001, 1.002, 3],
    flow: [0, 0, 0, 1],
    link: [0, 0, 0, 1],
    cause: [0, 0, 0, 1],
    backward: [0, 0, 1, 0],
  },
  { cause: ["queue", "error"] },
);

test("lines have the rows of one flow", () => {
  const store = new Store();
  store.add({ trace });
  const query = { table: "trace", column: "cwnd_segments", from_s: 0, to_s: 10, points: 100 } as const;
  expect([...store.series({ ...query, of: 0 }).y]).toEqual([10, 20, 12, 40]);
  expect([...store.series({ ...query, of: 1 }).x]).toEqual([1]);
  expect(store.series({ ...query, of: 7 }).x.length).toBe(0);
  const goodput = store.series({ ...query, table: "goodput", column: "goodput_bps", of: 0, to_s: 4, points: 6 });
  expect(goodput.y.reduce((sum, value) => sum + value, 0) * ((goodput.x[1] ?? 0) - (goodput.x[0] ?? 0))).toBeCloseTo(
    32_000,
  );
});

test("a table that is too long retains its ends and reports its decimation", () => {
  const store = new Store(1000);
  for (let part = 0; part < 10; part++) {
    const time_s = Array.from({ length: 300 }, (_, at) => part * 300 + at);
    const packets = time_s.map((time) => (time === 1234 ? 99 : time % 7));
    store.add({ queue: table({ time_s, link: time_s.map(() => 0), packets, bytes: packets }) });
  }
  const { x, y } = store.series({ table: "queue", column: "packets", of: 0, from_s: 0, to_s: 1e4, points: 5000 });
  expect(x.length).toBeLessThanOrEqual(1000);
  expect(Math.max(...y)).toBe(99);
  expect(store.queues()).toEqual([{ link: 0, now: 2999 % 7, most: 99, dropped: 0 }]);
  expect(store.thinned).toMatch(/^the queue is decimated to 1\/[48] of its rows$/);
});

test("losses close together are merged with their number; ACKs do not count", () => {
  const store = new Store();
  store.add({ drops });
  const { x, count, causes, cause } = store.losses({ from_s: 0, to_s: 10, points: 100 });
  expect([...x]).toEqual([1, 3]);
  expect([...count]).toEqual([2, 1]);
  expect([...cause].map((at) => causes[at])).toEqual(["queue", "error"]);
});

test("states change where the phase does", () => {
  const store = new Store();
  store.add({ trace });
  const { from_s, state, names } = store.states(0);
  expect([...from_s]).toEqual([0, 1, 4]);
  expect([...state].map((at) => names[at])).toEqual(["open", "recovery", "open"]);
  expect(store.last(0)).toMatchObject({ first_s: 0, time_s: 4, cwnd_segments: 40 });
});

test("facts hold the rows with a new maximum window, and drops by kind", () => {
  const facts = new Gathered(["a", "b"], ["x->y", "y->x"]);
  facts.add({ trace, drops });
  const own = facts.trace("a", null);
  expect(own?.highest).toEqual([
    [0, 0, 10],
    [1, 1000, 20],
    [4, 4000, 40],
  ]);
  expect(own?.sent_bytes).toBe(5000);
  expect(facts.drops("a")).toEqual([["x->y", "queue", 2]]);
  expect(facts.lost(1)).toBe(1);
});
