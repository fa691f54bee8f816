/** Window of a space-time diagram: the recorded part, the initial part in view, and the packets drawn. */

import type { Moment } from "../app/watched.ts";
import type { Network } from "../engine/protocol.ts";
import type { Piece } from "./drawn.ts";
import type { Hop } from "./hops.ts";
import { held, type View } from "./stretch.ts";

/** Number of round trips initially in view. */
const ROUNDS = 3;
/** Seconds and round trips of a flow that are recorded unless a window is selected. */
const RECORDED_S = 2;
const RECORDED_ROUNDS = 4;
/** Minimum distance in pixels between the lines of two packets. */
const APART = 5;

/**
 * Returns the part of a window that is initially in view: the first round trips with data. It is the entire window if
 * that is shorter or has no data, or if the round-trip time is unknown.
 */
export function opening(pieces: Piece[], whole: View, roundTrip_s: number | undefined): View {
  const data = pieces.filter(({ hop }) => isData(hop));
  if (roundTrip_s === undefined || data.length === 0) {
    return whole;
  }
  const length = ROUNDS * roundTrip_s;
  const start = data.reduce((first, { hop }) => Math.min(first, hop.start), Number.POSITIVE_INFINITY);
  const from_s = Math.max(whole.from_s, start - 0.02 * length);
  return length >= whole.to_s - whole.from_s ? whole : held({ from_s, to_s: from_s + length }, whole);
}

function isData({ backward, len }: Hop): boolean {
  return !backward && len > 0;
}

/**
 * Returns the last transmission time of each packet: by then, the slowest link of its path has separated it from
 * others.
 */
export function departuresOf(pieces: Piece[]): Map<number, number> {
  const departures = new Map<number, number>();
  for (const { hop } of pieces) {
    departures.set(hop.packet, Math.max(hop.depart, departures.get(hop.packet) ?? 0));
  }
  return departures;
}

/** Returns the position of a point in the figure. */
type Place = (point: Piece["from"]) => { x: number; y: number };

/**
 * Selects the packets to draw: all if their lines are far enough from each other, otherwise the first of each short
 * interval, and always those that are retransmitted or dropped. Moving the view does not change the selection.
 */
export function drawnOf(pieces: Piece[], departures: Map<number, number>, place: Place): Set<number> {
  const drawn = new Set<number>();
  for (const isKind of [isData, (hop: Hop) => !isData(hop)]) {
    const own = pieces.filter(({ hop }) => isKind(hop));
    const interval = (apartOf(own, place) ?? APART) < APART ? intervalOf(own, place) : 0;
    const first = new Map<number, number>();
    for (const { hop } of own) {
      const part = Math.floor((departures.get(hop.packet) ?? 0) / interval);
      const kept = interval > 0 ? (first.get(part) ?? hop.packet) : hop.packet;
      first.set(part, kept);
      if (hop.again || hop.isDropped || kept === hop.packet) {
        drawn.add(hop.packet);
      }
    }
  }
  return drawn;
}

/** Returns the seconds between two drawn lines, rounded to a power of two so that zooming keeps most lines. */
function intervalOf(pieces: Piece[], place: Place): number {
  const trips = new Map<number, { from: Piece["from"]; to: Piece["to"] }>();
  for (const { hop, from, to } of pieces) {
    trips.set(hop.packet, { from: trips.get(hop.packet)?.from ?? from, to });
  }
  const lines = [...trips.values()].map(({ from, to }) => ({ a: place(from), b: place(to) }));
  const longest = lines.reduce((one, other) => (heightOf(other) > heightOf(one) ? other : one), { a: ZERO, b: ZERO });
  const slope = heightOf(longest) / (Math.hypot(longest.b.x - longest.a.x, heightOf(longest)) || 1);
  const second = place({ time: 1, distance: 0 }).x - place({ time: 0, distance: 0 }).x;
  return slope > 0 ? 2 ** Math.ceil(Math.log2(APART / slope / second)) : 0;
}

const ZERO = { x: 0, y: 0 };

function heightOf({ a, b }: { a: { y: number }; b: { y: number } }): number {
  return Math.abs(b.y - a.y);
}

/** Returns the distance in pixels between the lines of two back-to-back packets, at the link where it is greatest. */
function apartOf(pieces: Piece[], place: Place): number | undefined {
  const byLink = new Map<number, { last: number | undefined; gaps: number[] }>();
  for (const { hop, kind, from, to } of pieces) {
    const [a, b] = [place(from), place(to)];
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    if (kind === "goes" && dy !== 0) {
      const link = byLink.get(hop.link) ?? { last: undefined, gaps: [] };
      byLink.set(hop.link, link);
      const gap = link.last === undefined ? 0 : (Math.abs(a.x - link.last) * Math.abs(dy)) / Math.hypot(dx, dy);
      link.last = a.x;
      if (gap > 0) {
        link.gaps.push(gap);
      }
    }
  }
  // A link that a path used for a moment has too few packets for an estimate.
  const most = Math.max(0, ...[...byLink.values()].map(({ gaps }) => gaps.length));
  const used = [...byLink.values()].filter(({ gaps }) => gaps.length > 0 && 2 * gaps.length >= most);
  // Waits between two flights are among the greater three quarters.
  const typical = used.map(({ gaps }) => gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 4)] ?? 0);
  return typical.length > 0 ? Math.max(...typical) : undefined;
}

/**
 * Returns the minimum round-trip time of a flow in seconds: the fastest trip there plus the fastest trip back.
 * Undefined until both are known.
 */
export function roundTripOf(hops: Hop[], { from, to }: { from: number; to: number }): number | undefined {
  const starts = new Map<number, number>();
  const shortest = { there: Number.POSITIVE_INFINITY, back: Number.POSITIVE_INFINITY };
  for (const hop of hops) {
    // A packet that was in transit at the start of the window has no known start.
    const isStart = hop.from === (hop.backward ? to : from);
    const start = starts.get(hop.packet) ?? (isStart ? hop.start : Number.NEGATIVE_INFINITY);
    starts.set(hop.packet, start);
    const side = hop.backward ? "back" : "there";
    if (hop.isTold && !hop.isDropped && hop.to === (hop.backward ? from : to)) {
      shortest[side] = Math.min(shortest[side], hop.end - start);
    }
  }
  const sum = shortest.there + shortest.back;
  return Number.isFinite(sum) ? sum : undefined;
}

/** Round trips that are recorded, and those initially in view, before and after a moment. */
const RECORDED = { before: 1.5, after: 3.5 };
const IN_VIEW = { before: 0.5, after: 2.5 };

/**
 * Returns the window to record around a moment of a flow, and the part of it that is initially in view: a packet that
 * is lost, and its retransmission a round trip later. Undefined if the round-trip time is unknown.
 */
export function windowAt(
  { time_s, roundTrip_s }: Pick<Moment, "time_s" | "roundTrip_s">,
  end_s: number,
): { whole: View; view: View } | undefined {
  if (roundTrip_s === undefined) {
    return undefined;
  }
  const part = ({ before, after }: typeof RECORDED): View => ({
    from_s: Math.max(0, Number((time_s - before * roundTrip_s).toPrecision(6))),
    to_s: Math.min(end_s, Number((time_s + after * roundTrip_s).toPrecision(6))),
  });
  return { whole: part(RECORDED), view: part(IN_VIEW) };
}

/** Returns the default recording window of a flow: its first seconds, or its first round trips if those are longer. */
export function firstWindow({ flows, links }: Network, flow: number, end_s: number): View {
  const { way, start_s } = flows[flow] ?? { way: null, start_s: 0 };
  const delay = (from: number, to: number) =>
    Math.min(...links.filter((link) => link.from === from && link.to === to).map(({ delay_s }) => delay_s));
  const hops = (way ?? []).slice(1).map((to, at): [number, number] => [way?.[at] ?? -1, to]);
  const trip = hops.reduce((sum, [from, to]) => sum + delay(from, to) + delay(to, from), 0);
  const length = Math.max(RECORDED_S, Number.isFinite(trip) ? RECORDED_ROUNDS * trip : 0);
  const from_s = start_s < end_s ? Math.floor(start_s * 1000) / 1000 : 0;
  return { from_s, to_s: Math.min(end_s, Number((from_s + length).toPrecision(4))) };
}
