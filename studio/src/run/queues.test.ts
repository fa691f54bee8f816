import { expect, test } from "vitest";
import type { Summary } from "../engine/protocol.ts";
import { Queues, queuesOf } from "./queues.ts";

const RECORDED = [
  { link: 1, now: 4, most: 110, dropped: 2 },
  { link: 0, now: 0, most: 7, dropped: 0 },
];

test("an animation that is opened after the run has the recorded queues", () => {
  const queues = new Queues();
  queues.take(RECORDED);
  expect(queues.busiest()).toEqual([1, 0]);
  expect([queues.at(1, 9), queues.most(1), queues.dropped(1), queues.at(0, 9), queues.at(5, 9)]).toEqual([
    4, 110, 2, 0, 0,
  ]);
});

test("during the run, a queue has its length at the time that is shown", () => {
  const queues = new Queues();
  queues.take(RECORDED);
  const column = (...values: number[]) => ({ values: Float64Array.from(values) });
  queues.add({
    queue: { rows: 3, columns: { time_s: column(1, 2, 3), link: column(1, 1, 1), packets: column(9, 110, 4) } },
  });
  expect([1, 2.5, 3].map((time) => queues.at(1, time))).toEqual([9, 110, 4]);
});

test("the result has the maximum between two records", () => {
  const summary = (queue: string) =>
    ({ links: [{ name: "b->a", max_queue_packets: 333 }], scenario: { record: { queue } } }) as Summary;
  const found = queuesOf(RECORDED, ["a->b", "b->a", "a->c"], summary("sampled"));
  expect(found).toContainEqual({ link: 1, now: 4, most: 333, dropped: 2 });
  const fresh = queuesOf([], ["a->b", "b->a"], summary("sampled"));
  expect(fresh).toEqual([{ link: 1, now: 0, most: 333, dropped: 0 }]);
  expect(queuesOf(RECORDED, ["a->b", "b->a"], undefined)).toEqual(RECORDED);
  expect(queuesOf([], ["a->b", "b->a"], summary("off"))[0]?.now).toBeNaN();
  const air = { link: 0xffffffff, now: 0, most: 0, dropped: 7 };
  expect(queuesOf([...RECORDED, air], ["a->b", "b->a"], undefined)).toEqual(RECORDED);
});
