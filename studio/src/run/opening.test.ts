import { describe, expect, test } from "vitest";
import type { Network } from "../engine/protocol.ts";
import { piecesOf, stopsOf } from "./drawn.ts";
import type { Hop } from "./hops.ts";
import { departuresOf, drawnOf, firstWindow, opening, roundTripOf, windowAt } from "./opening.ts";

/**
 * Returns the hops of flights of ten packets, one flight every 100 ms. The packets cross a link of 1 ms together, then
 * a link of 20 ms at intervals of 1 ms. Each is acknowledged.
 */
function flights(count: number): Hop[] {
  const hop = { flow: 0, isTold: true, isDropped: false, isCrossed: false, cause: "", seq: 0, ack: 0, again: false };
  return Array.from({ length: count }, (_, flight) => 0.1 * flight + 0.5).flatMap((start) =>
    Array.from({ length: 10 }, (_, at): Hop[] => {
      const packet = 1000 * start + 2 * at;
      const depart = start + 0.001 + at * 1e-3;
      const data = { ...hop, packet, backward: false, len: 1448, start };
      const ack = { ...hop, packet: packet + 1, link: 2, backward: true, len: 0 };
      return [
        { ...data, link: 0, from: 0, to: 1, depart: start + at * 1e-6, end: start + 0.001 },
        { ...data, link: 1, from: 1, to: 2, start: start + 0.001, depart, end: depart + 0.02 },
        { ...ack, from: 2, to: 0, start: depart + 0.02, depart: depart + 0.02, end: depart + 0.04 },
      ];
    }).flat(),
  );
}

describe("the diagram", () => {
  const hops = flights(20);
  const pieces = piecesOf(hops, stopsOf(hops));
  const whole = { from_s: 0, to_s: 10 };

  test("opens on the first three round trips with data", () => {
    const { from_s, to_s } = opening(pieces, whole, 0.04);
    expect(to_s - from_s).toBeCloseTo(0.12);
    // A little before the first packet, at 0.5 s.
    expect(from_s).toBeCloseTo(0.5 - 0.02 * 0.12);
  });

  test("opens on an entire window that is shorter, without data, or without a known round trip", () => {
    const short = { from_s: 0.5, to_s: 0.6 };
    expect(opening(pieces, short, 0.04)).toEqual(short);
    expect(opening([], whole, 0.04)).toEqual(whole);
    expect(opening(pieces, whole, undefined)).toEqual(whole);
  });

  /**
   * Returns a function that positions points with `pixels` per second, and nodes so far apart that lines are nearly
   * vertical.
   */
  const at = (pixels: number) => (point: { time: number; distance: number }) => ({
    x: point.time * pixels,
    y: point.distance * pixels * 1e3,
  });

  test("draws all packets if their lines are separate, otherwise the same ones in every view", () => {
    const departures = departuresOf(pieces);
    // 200 data packets and 200 ACKs, 1 ms from each other.
    expect(drawnOf(pieces, departures, at(6000)).size).toBe(400);
    // With lines 2 pixels from each other, one is drawn each 3.9 ms: 2 to 4 of each flight of ten, and its ACKs.
    const some = drawnOf(pieces, departures, at(2000));
    expect(some.size).toBeGreaterThan(80);
    expect(some.size).toBeLessThan(160);
    const later = drawnOf(pieces.slice(300), departures, at(2000));
    // Only at the edge of the view another one may be the first of its interval.
    expect([...later].filter((packet) => !some.has(packet)).length).toBeLessThanOrEqual(2);
  });

  test("draws a packet of each flight, however close its packets are", () => {
    // 20 flights and their ACKs, 3 pixels from each other.
    expect(drawnOf(pieces, departuresOf(pieces), at(60)).size).toBeGreaterThan(19);
  });

  test("draws fewer packets if lines are flat, because these are closer to each other", () => {
    const flat = (point: { time: number; distance: number }) => ({ x: point.time * 3000, y: point.distance * 300 });
    expect(drawnOf(pieces, departuresOf(pieces), flat).size).toBeLessThan(200);
  });

  test("draws each packet that is retransmitted or dropped", () => {
    const marked = pieces.map((piece, at) => (at === 33 ? { ...piece, hop: { ...piece.hop, again: true } } : piece));
    const packet = pieces[33]?.hop.packet ?? -1;
    const departures = departuresOf(marked);
    expect([
      drawnOf(pieces, departures, at(100)).has(packet),
      drawnOf(marked, departures, at(100)).has(packet),
    ]).toEqual([false, true]);
  });
});

test("the round trip is the shortest one", () => {
  // There 1 ms and 20 ms, back 20 ms.
  expect(roundTripOf(flights(2), { from: 0, to: 2 })).toBeCloseTo(0.041);
  expect(roundTripOf([], { from: 0, to: 2 })).toBeUndefined();
});

test("a window has two seconds of a flow, or four round trips where that is longer", () => {
  const link = (from: number, to: number, delay_s: number) => ({ name: "", from, to, rate_bps: 1e6, delay_s });
  const network = (delay_s: number, start_s = 0, way: number[] | null = [0, 1]) =>
    ({ flows: [{ way, start_s }], links: [link(0, 1, delay_s), link(1, 0, delay_s)] }) as unknown as Network;
  expect(firstWindow(network(0.3), 0, 60)).toEqual({ from_s: 0, to_s: 2.4 });
  expect(firstWindow(network(0.01), 0, 60)).toEqual({ from_s: 0, to_s: 2 });
  expect(firstWindow(network(250), 0, 5000)).toEqual({ from_s: 0, to_s: 2000 });
  expect(firstWindow(network(250), 0, 600)).toEqual({ from_s: 0, to_s: 600 });
  expect(firstWindow(network(0.01, 30), 0, 60)).toEqual({ from_s: 30, to_s: 32 });
  expect(firstWindow(network(0.3, 0, null), 0, 60)).toEqual({ from_s: 0, to_s: 2 });
  // A path over satellites has no link from station to station.
  expect(firstWindow(network(0.3, 0, [5, 6]), 0, 60)).toEqual({ from_s: 0, to_s: 2 });
});

test("the window around a loss has its retransmission in view", () => {
  const found = windowAt({ time_s: 12, roundTrip_s: 0.6 }, 60);
  expect(found).toEqual({ whole: { from_s: 11.1, to_s: 14.1 }, view: { from_s: 11.7, to_s: 13.5 } });
  expect(windowAt({ time_s: 0.1, roundTrip_s: 0.6 }, 1)).toMatchObject({ whole: { from_s: 0, to_s: 1 } });
  expect(windowAt({ time_s: 12, roundTrip_s: undefined }, 60)).toBeUndefined();
});
