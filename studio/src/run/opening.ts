/** The part of a space-time diagram that is in view at first: one in which single packets can be told apart. */

import type { Network } from "../engine/protocol.ts";
import type { Piece } from "./drawn.ts";
import type { Hop } from "./hops.ts";
import { held, type View } from "./stretch.ts";

/** Pixels between two packets one after another. */
const APART = 3;
/** Data packets of which the distances count: those at the start of the window. */
const FIRST = 200;
/** Seconds and round trips of a flow that are recorded unless a window is chosen. */
const SECONDS = 2;
const ROUNDS = 4;

/**
 * The time from the first data packet on in which data packets of the slowest link are at least three pixels apart, in a diagram
 * of that many pixels for the time. All of the window if packets are farther from each other, or if there are no data.
 */
export function opening(pieces: Piece[], whole: View, pixels: number): View {
  const data = pieces.filter(
    ({ kind, hop }) => kind === "goes" && !hop.backward && hop.len > 0 && hop.end > hop.depart,
  );
  const start = Math.min(...data.map(({ hop }) => hop.start));
  const gap = gapOf(data.map(({ hop }) => hop));
  if (gap === undefined || pixels <= 0) {
    return whole;
  }
  const length = (gap * pixels) / APART;
  const from_s = Math.max(whole.from_s, start - 0.02 * length);
  return length >= whole.to_s - whole.from_s ? whole : held({ from_s, to_s: from_s + length }, whole);
}

/** Seconds between two data packets that a link sends one right after the other, of the link that takes the longest. */
function gapOf(hops: Hop[]): number | undefined {
  const byLink = new Map<number, number[]>();
  for (const { link, depart } of hops) {
    const departures = byLink.get(link) ?? [];
    byLink.set(link, departures);
    if (departures.length < FIRST) {
      departures.push(depart);
    }
  }
  // A link that a path used for a moment has few packets, and tells nothing.
  const most = Math.max(...[...byLink.values()].map(({ length }) => length));
  const used = [...byLink.values()].filter(({ length }) => 2 * length >= most);
  const gaps = used.map((departures) => {
    const sorted = departures.sort((one, other) => one - other);
    const between = sorted.slice(1).map((time, index) => time - (sorted[index] ?? 0));
    // Waits between two flights are among the greater three quarters.
    return between.filter((gap) => gap > 0).sort((one, other) => one - other)[Math.floor(between.length / 4)];
  });
  const known = gaps.filter((gap) => gap !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** Seconds of the shortest trips of packets to the end of a flow and back, as far as both are known. */
export function roundTripOf(hops: Hop[], { from, to }: { from: number; to: number }): number | undefined {
  const starts = new Map<number, number>();
  const shortest = { there: Number.POSITIVE_INFINITY, back: Number.POSITIVE_INFINITY };
  for (const hop of hops) {
    const start = starts.get(hop.packet) ?? hop.start;
    starts.set(hop.packet, start);
    const way = hop.backward ? "back" : "there";
    if (hop.isTold && !hop.isDropped && hop.to === (hop.backward ? from : to)) {
      shortest[way] = Math.min(shortest[way], hop.end - start);
    }
  }
  const sum = shortest.there + shortest.back;
  return Number.isFinite(sum) ? sum : undefined;
}

/** The window of a flow that is recorded unless another is chosen: its first seconds, and its first round trips if those are longer. */
export function firstWindow({ flows, links }: Network, flow: number, end_s: number): View {
  const { way, start_s } = flows[flow] ?? { way: null, start_s: 0 };
  const delay = (from: number, to: number) =>
    Math.min(...links.filter((link) => link.from === from && link.to === to).map(({ delay_s }) => delay_s));
  const hops = (way ?? []).slice(1).map((to, at): [number, number] => [way?.[at] ?? -1, to]);
  const trip = hops.reduce((sum, [from, to]) => sum + delay(from, to) + delay(to, from), 0);
  const length = Math.max(SECONDS, Number.isFinite(trip) ? ROUNDS * trip : 0);
  const from_s = start_s < end_s ? start_s : 0;
  return { from_s, to_s: Math.min(end_s, from_s + length) };
}
