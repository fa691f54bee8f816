/** Moments of a run that are worth seeing packet by packet. */

import type { Moment } from "../app/watched.ts";
import type { Ways } from "../app/ways.ts";
import type { Live } from "./live.ts";

type Run = Pick<Live, "started" | "losses" | "series">;

/** Maximum number of losses and of round-trip times that are queried. */
const POINTS = 2000;
const LAST = 200;

/**
 * Returns the first loss and the first change of a path, in the order of their times, and then the start: of one flow,
 * or of all flows.
 */
export async function momentsOf(live: Run, ways: Ways, flow: number | undefined): Promise<Moment[]> {
  const losses = await live.losses({ from_s: 0, to_s: live.started.end_s, points: POINTS });
  const first = losses.x.findIndex((_, at) => flow === undefined || losses.flow[at] === flow);
  const found: Omit<Moment, "roundTrip_s">[] = [];
  if (first >= 0) {
    found.push({ kind: "loss", time_s: losses.x[first] ?? 0, flow: losses.flow[first] ?? 0 });
  }
  const change = ways.firstChange(flow);
  if (change) {
    found.push({ kind: "path", ...change });
  }
  found.sort((one, other) => one.time_s - other.time_s);
  found.push({ kind: "start", time_s: 0, flow: flow ?? 0 });
  return Promise.all(found.map(async (one) => ({ ...one, roundTrip_s: await roundTrip(live, one) })));
}

/** Returns the smoothed round-trip time of a flow at a moment; at its start, the first one. */
async function roundTrip(live: Run, { kind, time_s, flow }: Omit<Moment, "roundTrip_s">): Promise<number | undefined> {
  const to_s = kind === "start" ? live.started.end_s : time_s;
  const query = { table: "trace", column: "srtt_s", of: flow, from_s: 0, to_s, points: LAST } as const;
  const values = (await live.series(query)).y.filter((value) => value > 0);
  return kind === "start" ? values[0] : values.at(-1);
}

const NAMES = { loss: "first loss", path: "first change of a path", start: "start" };

/** Names a moment. */
export function momentSays({ kind, time_s }: Moment): string {
  return kind === "start" ? NAMES.start : `${NAMES[kind]}, ${Number(time_s.toPrecision(5))} s`;
}
