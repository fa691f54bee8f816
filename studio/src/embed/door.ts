/** Engine interface of a recorded run: it serves the requests of animations. */

import { type AnswerTo, type Door, EngineError, type Request, type Table, type Tables } from "../engine/protocol.ts";
import { roundEnds } from "../save/figure.ts";
import type { FlightRecording, Moment, Recording, SkyRecording } from "./recording.ts";
import { reader } from "./recording.ts";

/** Minimum length of an area's side in metres, and the approximate number of rounded steps along a side. */
const LEAST = 10;
const STEPS = 8;

export class RecordedDoor implements Door {
  private readonly at: (time_s: number) => Moment;

  constructor(private readonly recording: Recording) {
    this.at = reader(recording);
  }

  async ask<R extends Request>(request: R): Promise<AnswerTo<R>> {
    return this.answer(request) as AnswerTo<R>;
  }

  close(): void {}

  private answer(request: Request): unknown {
    const { recording } = this;
    switch (request.op) {
      case "places_at":
        return { time_s: request.time_s, tables: tablesOf(this.at(request.time_s)) };
      case "sky":
        return skyOf(recording as SkyRecording);
      case "flight":
        return flightOf(recording as FlightRecording);
      case "check":
      case "leave":
        return {};
      default:
        throw new EngineError(`a recording does not support "${request.op}"`);
    }
  }
}

function tablesOf({ places, links }: Moment): Tables {
  const axis = (first: number) => ({ values: places.filter((_, at) => at % 3 === first) });
  const end = (which: 0 | 1) => ({ values: Uint32Array.from(links, (link) => link[which]) });
  return {
    places: { rows: places.length / 3, columns: { x: axis(0), y: axis(1), z: axis(2) } },
    isls: {
      rows: links.length,
      columns: { a: end(0), b: end(1), strength: { values: Float64Array.from(links, ([, , strength]) => strength) } },
    },
  };
}

function skyOf({ satellites, stations, start, step, ways }: SkyRecording): AnswerTo<{ op: "sky" } & Request> {
  return {
    place: 0,
    satellites,
    stations,
    start,
    interval_s: step,
    flows: ways.map(({ name, ends: [from, to] = [0, 0] }) => ({ name, from, to })),
    courses: ways.map(({ name, courses }) => ({
      flow: name,
      ways: courses.map(([from_s, nodes]) => ({ from_s, nodes })),
    })),
  };
}

function flightOf({ nodes, low, high }: FlightRecording): AnswerTo<{ op: "flight" } & Request> {
  const around = (least: number, most: number) => roundEnds(least, Math.max(most, least + LEAST), STEPS);
  const [x, y, z] = [around(low[0], high[0]), around(low[1], high[1]), around(Math.min(0, low[2]), high[2])];
  return { place: 0, nodes, extent: { least: [x[0], y[0], z[0]], most: [x[1], y[1], z[1]] } };
}

/** Returns the paths of flows in the form of a run's reports: one row per node. */
export function pathsOf({ ways }: FlightRecording): Table {
  const rows = ways.flatMap(({ courses }, flow) =>
    courses.flatMap(([from_s, nodes]) => nodes.map((node, hop) => ({ from_s, flow, hop, node }))),
  );
  const whole = (key: "flow" | "hop" | "node") => ({ values: Uint32Array.from(rows, (row) => row[key]) });
  return {
    rows: rows.length,
    columns: {
      time_s: { values: Float64Array.from(rows, ({ from_s }) => from_s) },
      flow: whole("flow"),
      hop: whole("hop"),
      node: whole("node"),
    },
  };
}
