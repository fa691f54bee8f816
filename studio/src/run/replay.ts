/** The packets around a moment of a run that is over: a second run with the same seed records them, and they repeat. */

import type { Moment } from "../app/watched.ts";
import type { Door, Network, ScenarioInput, Tables } from "../engine/protocol.ts";
import type { Hops } from "./hops.ts";
import { watched } from "./window.ts";

/** Round trips that are shown before and after a moment, and those recorded before and after these. */
const BEFORE = 0.5;
const AFTER = 1.5;
const MARGIN = 1;
/** Round-trip time in seconds where none was measured. */
const USUAL = 0.2;
/** Maximum number of packet-hops that are shown. */
const HOPS = 20_000;
/** Target time in seconds for a packet to cross the slowest hop on the screen. */
const CROSSING = 1.5;
/** Number of records of the queues in the part that is shown, and the maximum of the run. */
const RECORDS = 60;
const MOST_RECORDS = 400_000;

/** A recording, and the position in it. */
export interface Replay {
  from_s: number;
  to_s: number;
  /** Seconds of the run per second. */
  speed: number;
  /** The shown time. */
  now_s: number;
  isPlaying: boolean;
  hops: Hops;
  queues: Tables[];
  /** Maximum duration of a hop, in seconds. */
  longest_s: number;
}

/**
 * Returns the part to show around a moment: two round trips, or as much as there is time for at this number of
 * packet-hops per second.
 */
export function partOf(
  { kind, time_s, roundTrip_s = USUAL }: Moment,
  end_s: number,
  hops_per_s: number,
): { from_s: number; to_s: number; margin_s: number } {
  const round = Math.min(roundTrip_s, HOPS / (hops_per_s || 1) / (BEFORE + AFTER));
  // The start of a flow is shown for longer, because few packets are sent then.
  const from_s = Math.max(0, kind === "start" ? time_s : time_s - BEFORE * round);
  const to_s = Math.min(end_s, from_s + (kind === "start" ? 2 : 1) * (BEFORE + AFTER) * round);
  return { from_s, to_s, margin_s: MARGIN * round };
}

/**
 * Records the packets of all flows around a moment.
 *
 * @param tell receives the progress, from 0 to 1
 * @param isWanted returns whether the result is still needed
 */
export async function replayOf(
  door: Door,
  input: ScenarioInput,
  seed: number,
  network: Network,
  part: ReturnType<typeof partOf>,
  end_s: number,
  tell: (part: number) => void,
  isWanted: () => boolean,
): Promise<Replay | undefined> {
  const { from_s, to_s, margin_s } = part;
  const links = network.links.length + network.more.links;
  const queues_s = Math.max((to_s - from_s) / RECORDS, (to_s * links) / MOST_RECORDS, 1e-5);
  const window = {
    from_s: Math.max(0, from_s - margin_s),
    to_s: Math.min(end_s, to_s + margin_s),
    flow: undefined,
    queues_s,
  };
  const found = await watched(door, input, seed, network, window, tell, isWanted);
  if (!found) {
    return undefined;
  }
  const { hops, queues, until_s } = found;
  const last_s = Math.max(Math.min(to_s, until_s), from_s + 1e-6);
  const times = hops.kept
    .filter(({ isTold, isDropped }) => isTold && !isDropped)
    .map(({ end, depart }) => end - depart);
  const longest_s = times.reduce((most, time) => Math.max(most, time), 0) || margin_s;
  const since = from_s - queues_s;
  return {
    from_s,
    to_s: last_s,
    speed: longest_s / CROSSING,
    now_s: from_s,
    isPlaying: true,
    hops,
    queues: queues.map((tables) => after(tables, since)).filter(({ queue }) => (queue?.rows ?? 0) > 0),
    longest_s,
  };
}

/** Returns the rows of queues that are not older than a time. */
function after({ queue }: Tables, since: number): Tables {
  const times = queue?.columns.time_s?.values ?? new Float64Array();
  const first = times.findIndex((time) => time >= since);
  if (!queue || first < 0) {
    return {};
  }
  const { time_s, link, packets } = queue.columns;
  const columns = {
    ...(time_s ? { time_s: { values: time_s.values.subarray(first) } } : {}),
    ...(link ? { link: { values: link.values.subarray(first) } } : {}),
    ...(packets ? { packets: { values: packets.values.subarray(first) } } : {}),
  };
  return { queue: { rows: queue.rows - first, columns } };
}
