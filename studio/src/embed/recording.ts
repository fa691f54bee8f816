/** Data of a recorded run for its player, as the Python package writes it. */

import { RADIUS } from "../space/earth.ts";

/** Values at equal steps of time from 0 to the end; null if unknown. */
export type Samples = (number | null)[];

/**
 * The path of a flow, or of a pair of stations: start times with indices of its nodes; no nodes while there is no
 * path.
 */
export interface Way {
  name: string;
  courses: [from_s: number, nodes: number[]][];
  /** Indices of its stations in a satellite network, where known. */
  ends?: [from: number, to: number];
}

export interface ChartOf {
  title: string;
  /** Short name of its values in the table of numbers. */
  short: string;
  unit: string;
  /** Whether its axis starts at 0. */
  zero: boolean;
  series: { way: number; values: Samples; thin?: boolean }[];
}

interface Recorded {
  title: string;
  /** Notes for the reader, such as a recording that ends before the run. */
  note: string;
  /** End of the recording, in seconds of the run. */
  until: number;
  ways: Way[];
  charts: ChartOf[];
}

export interface SkyRecording extends Recorded {
  kind: "sky";
  /** Start of the run, in ISO 8601. */
  start: string;
  /** Seconds between two stored positions, and their number. */
  step: number;
  knots: number;
  satellites: string[];
  stations: string[];
  /** Positions of satellites, then of stations, at each knot: x, y, z as 16-bit numbers, little-endian, in base 64. */
  places: string;
  /** Earth radii per unit of `places`. */
  unit: number;
  /** Links between satellites, four numbers each: both ends, the first knot of the link and the knot after its last. */
  links: number[];
}

export interface FlightRecording extends Recorded {
  kind: "flight";
  /** Time of the first frame; `until` is the time of the last one. */
  from: number;
  nodes: string[];
  /** Time of each frame in seconds. */
  times: number[];
  /** x, y, z in metres of each node, for each frame. */
  places: number[][][];
  /** For each frame: two nodes and the strength of the signal between them, from 0 to 1. */
  links: [number, number, number][][];
  low: [number, number, number];
  high: [number, number, number];
}

export type Recording = SkyRecording | FlightRecording;

/** Positions at a moment, and the pairs of nodes with a link. */
export interface Moment {
  places: Float64Array;
  links: [number, number, number][];
}

/** Returns a function that computes all positions and links at a time. */
export function reader(recording: Recording): (time_s: number) => Moment {
  return recording.kind === "sky" ? skyReader(recording) : (time_s) => flightAt(recording, time_s);
}

/** Interpolates positions on the arc between two knots, so that low satellites stay above the ground. */
function skyReader({ places, unit, step, knots, links }: SkyRecording): (time_s: number) => Moment {
  const bytes = Uint8Array.from(atob(places), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const stored = Float64Array.from(
    { length: bytes.length / 2 },
    (_, at) => view.getInt16(2 * at, true) * unit * RADIUS,
  );
  const size = stored.length / knots;
  return (time_s) => {
    const at = Math.max(0, Math.min(Math.floor(time_s / step), knots - 2));
    const part = Math.min(1, time_s / step - at);
    const now = new Float64Array(size);
    for (let node = 0; node < size; node += 3) {
      onArc(stored, at * size + node, Math.min(at + 1, knots - 1) * size + node, part, now, node);
    }
    const knot = Math.floor(time_s / step);
    const up: [number, number, number][] = [];
    for (let link = 0; link < links.length; link += 4) {
      const [a = 0, b = 0, from = 0, until = 0] = links.slice(link, link + 4);
      if (from <= knot && knot < until) {
        up.push([a, b, 1]);
      }
    }
    return { places: now, links: up };
  };
}

/** Writes the point at a fraction of the arc between two points; its distance from the centre changes linearly. */
function onArc(all: Float64Array, before: number, after: number, part: number, into: Float64Array, at: number): void {
  let [sum, from, to] = [0, 0, 0];
  for (let axis = 0; axis < 3; axis++) {
    const [a, b] = [all[before + axis] ?? 0, all[after + axis] ?? 0];
    const mixed = a + (b - a) * part;
    into[at + axis] = mixed;
    sum += mixed * mixed;
    from += a * a;
    to += b * b;
  }
  const stretch = (Math.sqrt(from) + (Math.sqrt(to) - Math.sqrt(from)) * part) / (Math.sqrt(sum) || 1);
  for (let axis = 0; axis < 3; axis++) {
    into[at + axis] = (into[at + axis] ?? 0) * stretch;
  }
}

/**
 * Returns the positions at a time, interpolated in straight lines between frames, and the links of the earlier frame.
 */
function flightAt({ times, places, links }: FlightRecording, time_s: number): Moment {
  const next = times.findIndex((time) => time > time_s);
  const at = next < 0 ? times.length - 1 : Math.max(0, next - 1);
  const [before = [], after = before] = [places[at], places[Math.min(at + 1, places.length - 1)]];
  const [from = 0, to = from] = [times[at], times[at + 1]];
  const part = to > from ? Math.max(0, (time_s - from) / (to - from)) : 0;
  const now = before.flatMap((place, node) =>
    place.map((one, axis) => one + ((after[node]?.[axis] ?? one) - one) * part),
  );
  return { places: Float64Array.from(now), links: links[at] ?? [] };
}

/** Returns the value of samples at a time. */
export function sampleAt(values: Samples, time_s: number, until_s: number): number | null {
  const at = Math.round((time_s / until_s) * (values.length - 1));
  return values[Math.max(0, Math.min(at, values.length - 1))] ?? null;
}
