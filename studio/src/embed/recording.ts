/** What a recorded run has for its player: the data of the page, as the Python package writes it. */

import { RADIUS } from "../space/earth.ts";

/** A number for each of equal steps of time from 0 to the end; null where none is known. */
export type Samples = (number | null)[];

/** The path of a flow, or of a pair of stations: since when, and the numbers of its nodes; none while there is no path. */
export interface Way {
  name: string;
  courses: [from_s: number, nodes: number[]][];
  /** Its ends in a sky, as numbers of stations, where they are known. */
  ends?: [from: number, to: number];
}

export interface ChartOf {
  title: string;
  /** The word for its values in the table of numbers. */
  short: string;
  unit: string;
  /** Whether its axis starts at 0. */
  zero: boolean;
  series: { way: number; values: Samples; thin?: boolean }[];
}

interface Recorded {
  title: string;
  /** What the reader has to know, such as an end before that of the run. */
  note: string;
  /** Seconds. */
  until: number;
  ways: Way[];
  charts: ChartOf[];
}

export interface SkyRecording extends Recorded {
  kind: "sky";
  /** When the run starts, in ISO 8601. */
  start: string;
  /** Seconds between two stored places, and their number. */
  step: number;
  knots: number;
  satellites: string[];
  stations: string[];
  /** Places of satellites, then of stations, at each knot: x, y, z as 16-bit numbers, little-endian, in base 64. */
  places: string;
  /** Earth radii of a one in `places`. */
  unit: number;
  /** Links between satellites, four numbers each: both ends, and from which knot until before which one the link is up. */
  links: number[];
}

export interface FlightRecording extends Recorded {
  kind: "flight";
  /** The time of the first picture; until is that of the last one. */
  from: number;
  nodes: string[];
  /** Seconds of each picture. */
  times: number[];
  /** x, y, z in metres of each node, for each picture. */
  places: number[][][];
  /** For each picture: two nodes and the strength of the signal between them, from 0 to 1. */
  links: [number, number, number][][];
  low: [number, number, number];
  high: [number, number, number];
}

export type Recording = SkyRecording | FlightRecording;

/** Places of a moment, and the pairs of nodes with a link. */
export interface Moment {
  places: Float64Array;
  links: [number, number, number][];
}

/** Where everything is at a time. */
export function reader(recording: Recording): (time_s: number) => Moment {
  return recording.kind === "sky" ? skyReader(recording) : (time_s) => flightAt(recording, time_s);
}

/** Between two knots a place lies on the arc between them, so that low satellites stay above the ground. */
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

/** Writes the point at a part of the way between two points, whose distance from the centre changes evenly. */
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

/** Nodes fly straight from picture to picture; links are those of the picture before. */
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

/** A value of samples at a time. */
export function sampleAt(values: Samples, time_s: number, until_s: number): number | null {
  const at = Math.round((time_s / until_s) * (values.length - 1));
  return values[Math.max(0, Math.min(at, values.length - 1))] ?? null;
}
