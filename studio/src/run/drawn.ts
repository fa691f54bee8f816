/** The space-time diagram of packets: nodes at distances by delay, and a line for each hop. */

import type { Hop } from "./hops.ts";
import { NOWHERE } from "./hops.ts";

export interface Stop {
  node: number;
  /** Propagation and serialisation time from the first node, in seconds. */
  distance_s: number;
}

/** A segment of a packet's path: straight in time and distance. */
export interface Piece {
  hop: Hop;
  kind: "waits" | "goes";
  from: { time: number; distance: number };
  to: { time: number; distance: number };
}

/**
 * Returns nodes in the order in which data reaches them, spaced by the minimum time that a packet takes between them.
 */
export function stopsOf(hops: Hop[]): Stop[] {
  const shortest = new Map<string, number>();
  const journeys = new Map<number, Hop[]>();
  for (const hop of hops) {
    if (!hop.isTold || hop.isDropped || hop.to === NOWHERE) {
      continue;
    }
    const [a, b] = hop.from < hop.to ? [hop.from, hop.to] : [hop.to, hop.from];
    const key = `${a} ${b}`;
    shortest.set(key, Math.min(shortest.get(key) ?? Number.POSITIVE_INFINITY, hop.end - hop.start));
    journeys.set(hop.packet, [...(journeys.get(hop.packet) ?? []), hop]);
  }
  const gap = (hop: Hop) => {
    const [a, b] = hop.from < hop.to ? [hop.from, hop.to] : [hop.to, hop.from];
    return shortest.get(`${a} ${b}`) ?? 0;
  };
  const distances = new Map<number, number>();
  const forward = [...journeys.values()].filter(([first]) => first && !first.backward);
  // Packets with more hops first: they contain most nodes of the path.
  for (const journey of forward.sort((one, other) => other.length - one.length)) {
    let at = distances.get(journey[0]?.from ?? -1) ?? 0;
    distances.set(journey[0]?.from ?? -1, at);
    for (const hop of journey) {
      at = distances.get(hop.to) ?? at + gap(hop);
      distances.set(hop.to, at);
    }
  }
  for (const [first, ...rest] of [...journeys.values()].filter(([hop]) => hop?.backward)) {
    let at = distances.get(first?.from ?? -1);
    for (const hop of first ? [first, ...rest] : []) {
      at = distances.get(hop.to) ?? (at === undefined ? 0 : Math.max(0, at - gap(hop)));
      if (!distances.has(hop.to) && distances.size > 0) {
        distances.set(hop.to, at);
      }
    }
  }
  const stops = [...distances].map(([node, distance_s]) => ({ node, distance_s }));
  return spread(stops.sort((one, other) => one.distance_s - other.distance_s));
}

/** Separates stops that are too close to be distinguished. */
function spread(stops: Stop[]): Stop[] {
  const whole = stops.at(-1)?.distance_s || 1;
  const least = whole / Math.max(12, 3 * stops.length);
  let moved = 0;
  return stops.map(({ node, distance_s }, index) => {
    const before = stops[index - 1]?.distance_s;
    if (before !== undefined) {
      moved += Math.max(0, least - (distance_s - before));
    }
    return { node, distance_s: distance_s + moved };
  });
}

/** Returns the segments of all hops between nodes that have a position. */
export function piecesOf(hops: Hop[], stops: Stop[]): Piece[] {
  const places = new Map(stops.map(({ node, distance_s }) => [node, distance_s]));
  const pieces: Piece[] = [];
  for (const hop of hops) {
    const start = places.get(hop.from);
    const end = places.get(hop.to);
    if (start === undefined || !hop.isTold) {
      continue;
    }
    if (hop.depart > hop.start) {
      const until = Math.min(hop.depart, hop.end);
      pieces.push({
        hop,
        kind: "waits",
        from: { time: hop.start, distance: start },
        to: { time: until, distance: start },
      });
    }
    if (end !== undefined && hop.end > hop.depart && (!hop.isDropped || hop.isCrossed)) {
      pieces.push({
        hop,
        kind: "goes",
        from: { time: hop.depart, distance: start },
        to: { time: hop.end, distance: end },
      });
    } else if (hop.isDropped) {
      const at = { time: hop.end, distance: start };
      pieces.push({ hop, kind: "goes", from: at, to: at });
    }
  }
  return pieces;
}

/** Returns the segment nearest to a point, in units of the figure. */
export function nearest(
  pieces: Piece[],
  { x, y }: { x: number; y: number },
  positionOf: (point: Piece["from"]) => { x: number; y: number },
  reach: number,
): Piece | undefined {
  let best: Piece | undefined;
  let least = reach;
  for (const piece of pieces) {
    const a = positionOf(piece.from);
    const b = positionOf(piece.to);
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const square = dx * dx + dy * dy;
    const part = square > 0 ? Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / square)) : 0;
    const far = Math.hypot(x - a.x - dx * part, y - a.y - dy * part);
    if (far < least) {
      least = far;
      best = piece;
    }
  }
  return best;
}
