import { describe, expect, test } from "vitest";
import { nearest, piecesOf, stopsOf } from "./drawn.ts";
import type { Hop } from "./hops.ts";
import { panned, ticks, zoomed } from "./stretch.ts";

function hop(part: Partial<Hop>): Hop {
  return {
    packet: 1,
    flow: 0,
    link: 0,
    from: 0,
    to: 1,
    start: 0,
    depart: part.start ?? 0,
    end: 1,
    isTold: true,
    isDropped: false,
    isCrossed: false,
    cause: "",
    backward: false,
    seq: 0,
    ack: 0,
    len: 100,
    again: false,
    ...part,
  };
}

const WAY = [
  hop({ from: 4, to: 6, start: 0, end: 0.2 }),
  hop({ from: 6, to: 5, start: 0.2, end: 1.2 }),
  hop({ packet: 2, from: 4, to: 6, start: 0, depart: 0.5, end: 0.7 }),
  hop({ packet: 3, from: 5, to: 6, start: 1.2, end: 2.2, backward: true }),
];

describe("the diagram", () => {
  test("nodes are separated by the minimum times between them, in the order of the path", () => {
    expect(stopsOf(WAY)).toEqual([
      { node: 4, distance_s: 0 },
      { node: 6, distance_s: 0.2 },
      { node: 5, distance_s: 1.2 },
    ]);
  });

  test("a packet is flat while it is queued, and a drop is shown at its position", () => {
    const lost = hop({ packet: 9, from: 6, to: 5, start: 3, depart: 3, end: 3, isDropped: true });
    const wrong = hop({ packet: 10, from: 6, to: 5, start: 3, depart: 3, end: 4, isDropped: true, isCrossed: true });
    const pieces = piecesOf([...WAY, lost, wrong], stopsOf(WAY));
    const of = (packet: number) =>
      pieces
        .filter((piece) => piece.hop.packet === packet)
        .map(({ kind, from, to }) => [kind, from.distance, to.distance]);
    expect(of(2)).toEqual([
      ["waits", 0, 0],
      ["goes", 0, 0.2],
    ]);
    expect(of(9)).toEqual([["goes", 0.2, 0.2]]);
    expect(of(10)).toEqual([["goes", 0.2, 1.2]]);
  });

  test("the packet under the pointer is the nearest one", () => {
    const pieces = piecesOf(WAY, stopsOf(WAY));
    const place = ({ time, distance }: { time: number; distance: number }) => ({ x: 100 * time, y: 100 * distance });
    expect(nearest(pieces, { x: 171, y: 71 }, place, 8)?.hop.packet).toBe(3);
    expect(nearest(pieces, { x: 300, y: 300 }, place, 8)).toBeUndefined();
  });
});

describe("the view", () => {
  const whole = { from_s: 10, to_s: 20 };

  test("zooms about a fixed time, and never exceeds the entire window", () => {
    expect(zoomed(whole, 12, 0.5, whole)).toEqual({ from_s: 11, to_s: 16 });
    expect(zoomed({ from_s: 11, to_s: 16 }, 12, 4, whole)).toEqual(whole);
    expect(panned({ from_s: 11, to_s: 16 }, -3, whole)).toEqual({ from_s: 10, to_s: 15 });
    expect(panned({ from_s: 11, to_s: 16 }, 30, whole)).toEqual({ from_s: 15, to_s: 20 });
  });

  test("its axis has round times", () => {
    expect(ticks(whole, 5)).toEqual([10, 12, 14, 16, 18, 20]);
    expect(ticks({ from_s: 0.1, to_s: 0.14 }, 4).map((time) => Number(time.toFixed(6)))).toEqual([
      0.1, 0.11, 0.12, 0.13, 0.14,
    ]);
  });
});
