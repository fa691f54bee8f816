import { describe, expect, test } from "vitest";
import type { Tables } from "../engine/protocol.ts";
import { Hops, NOWHERE, progress } from "./hops.ts";

/** Two links in a row: 0 to 1 at 8 Mbit/s and 10 ms, 1 to 2 at 0.8 Mbit/s and 100 ms. */
const LINKS = [
  { from: 0, to: 1, rate_bps: 8e6, delay_s: 0.01 },
  { from: 1, to: 2, rate_bps: 0.8e6, delay_s: 0.1 },
];
const EVENTS = ["sent", "forwarded", "received", "dropped"];
const LEN = 948;

interface Row {
  at: number;
  packet: number;
  node: number;
  link?: number;
  event: string;
  seq?: number;
  backward?: boolean;
}

function tables(rows: Row[], drops: [at: number, link: number, cause: number][] = []): Tables {
  const column = (of: (row: Row) => number) => ({ values: Float64Array.from(rows, of) });
  const columns = {
    time_s: column(({ at }) => at),
    packet: column(({ packet }) => packet),
    flow: column(() => 0),
    node: column(({ node }) => node),
    link: column(({ link }) => link ?? NOWHERE),
    event: { ...column(({ event }) => EVENTS.indexOf(event)), names: EVENTS },
    backward: column(({ backward }) => (backward ? 1 : 0)),
    seq: column(({ seq }) => seq ?? 0),
    ack: column(() => 0),
    len: column(({ backward }) => (backward ? 0 : LEN)),
  };
  const ofDrops = {
    time_s: { values: Float64Array.from(drops, ([at]) => at) },
    link: { values: Float64Array.from(drops, ([, link]) => link) },
    flow: { values: Float64Array.from(drops, () => 0) },
    cause: { values: Float64Array.from(drops, ([, , cause]) => cause), names: ["queue", "error"] },
  };
  return { packets: { rows: rows.length, columns }, drops: { rows: drops.length, columns: ofDrops } };
}

describe("hops", () => {
  test("a packet is queued, sent and received; the next row has the time", () => {
    const hops = new Hops(LINKS);
    hops.add(tables([{ at: 1, packet: 7, node: 0, link: 0, event: "sent" }]));
    const [first] = hops.kept;
    expect(first).toMatchObject({ from: 0, to: 1, start: 1, depart: 1, isTold: false });
    // 1,000 bytes at 8 Mbit/s take 1 ms.
    expect(first?.end).toBeCloseTo(1.011);
    expect(first && progress(first, 5)).toBe(0.98);
    hops.add(tables([{ at: 1.031, packet: 7, node: 1, link: 1, event: "forwarded" }]));
    expect(first?.isTold).toBe(true);
    expect(first?.depart).toBeCloseTo(1.02);
    expect(first && progress(first, 1.01)).toBe(-1);
    expect(first && progress(first, 1.0255)).toBeCloseTo(0.5);
    hops.add(tables([{ at: 1.141, packet: 7, node: 2, event: "received" }]));
    expect(hops.kept).toHaveLength(2);
    expect(hops.kept[1]).toMatchObject({ from: 1, to: 2, end: 1.141, isTold: true, isDropped: false });
  });

  test("packets of a burst are sent one after another before their hops are reported", () => {
    const hops = new Hops(LINKS);
    hops.add(tables([1, 2, 3].map((packet) => ({ at: 0, packet, node: 1, link: 1, event: "forwarded" }))));
    expect(hops.kept.map(({ depart }) => Number(depart.toFixed(6)))).toEqual([0, 0.01, 0.02]);
  });

  test("a full queue drops at its entry, a corrupted frame at the end of its link", () => {
    const hops = new Hops(LINKS);
    const rows = [
      { at: 0, packet: 1, node: 1, link: 1, event: "forwarded" },
      { at: 0, packet: 2, node: 1, link: 1, event: "forwarded" },
      { at: 0, packet: 2, node: 1, link: 1, event: "dropped" },
      { at: 0, packet: 3, node: 1, link: 1, event: "forwarded" },
      { at: 0.11, packet: 1, node: 1, link: 1, event: "dropped" },
    ];
    hops.add(
      tables(rows, [
        [0, 1, 0],
        [0.11, 1, 1],
      ]),
    );
    const [wrong, full, third] = hops.kept;
    expect(full).toMatchObject({ isDropped: true, isCrossed: false, cause: "queue", end: 0 });
    expect(wrong).toMatchObject({ isDropped: true, isCrossed: true, cause: "error", end: 0.11, to: 2 });
    expect(wrong?.depart).toBeCloseTo(0);
    // A rejected packet took no time of the link.
    expect(third?.depart).toBeCloseTo(0.01);
  });

  test("repeated bytes count as retransmitted, also when sequence numbers wrap", () => {
    const hops = new Hops(LINKS);
    const seqs = [0xfffffff0, 0xfffffff0 + LEN - 2 ** 32, 0xfffffff0, 0xfffffff0 + 2 * LEN - 2 ** 32];
    hops.add(tables(seqs.map((seq, packet) => ({ at: packet, packet, node: 0, link: 0, event: "sent", seq }))));
    expect(hops.kept.map(({ again }) => again)).toEqual([false, false, true, false]);
    expect(hops.numbers.first.get(0)).toBe(0xfffffff0);
    expect(hops.kept.map(({ seq }) => seq - 0xfffffff0)).toEqual([0, LEN, 0, 2 * LEN]);
    hops.add(tables([{ at: 9, packet: 2, node: 1, link: 1, event: "forwarded" }]));
    expect(hops.kept.at(-1)?.again).toBe(true);
  });

  test("a duplicate has a separate path; rows without a start are reported unchanged", () => {
    const hops = new Hops(LINKS);
    hops.add(
      tables([
        { at: 0, packet: 5, node: 0, link: 0, event: "sent" },
        { at: 1, packet: 5, node: 0, link: 0, event: "sent" },
        { at: 1.011, packet: 5, node: 1, link: 1, event: "forwarded" },
        { at: 2, packet: 8, node: 2, event: "received" },
        { at: 2, packet: 9, node: 1, link: 1, event: "dropped" },
      ]),
    );
    expect(hops.kept.map(({ start, isTold }) => [start, isTold])).toEqual([
      [0, false],
      [1, true],
      [1.011, false],
    ]);
  });

  test("over the air the next node is the exit node of the packet", () => {
    const hops = new Hops([]);
    hops.add(tables([{ at: 0, packet: 1, node: 4, link: 4, event: "sent" }]));
    expect(hops.kept[0]?.to).toBe(NOWHERE);
    hops.add(tables([{ at: 0.02, packet: 1, node: 6, link: 6, event: "forwarded" }]));
    expect(hops.kept[0]).toMatchObject({ from: 4, to: 6, end: 0.02, isTold: true });
  });

  test("old hops are removed, hops in transit remain", () => {
    const hops = new Hops(LINKS);
    hops.add(
      tables([
        { at: 0, packet: 1, node: 0, link: 0, event: "sent" },
        { at: 0.011, packet: 1, node: 1, link: 1, event: "forwarded" },
      ]),
    );
    hops.forget(0.05);
    expect(hops.kept.map(({ link }) => link)).toEqual([1]);
    hops.forget(5);
    expect(hops.kept).toEqual([]);
    hops.add(tables([{ at: 6, packet: 1, node: 2, event: "received" }]));
    expect(hops.kept).toEqual([]);
  });
});
