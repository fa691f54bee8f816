/** Packets of a flow in a window of time. They come from a separate run, which ends with the window. */

import type { Door, Network, ScenarioInput, Tables } from "../engine/protocol.ts";
import { Hops } from "./hops.ts";

/** Maximum number of packet rows, and of events per step, which keeps a step short. */
const MOST = 60_000;
const EVENTS = 100_000;
/** Resolution of times in the engine, which rounds the end of a step. */
const NANOSECOND = 1e-9;

export interface Window {
  from_s: number;
  to_s: number;
  /** The flow whose packets are reported; undefined for all flows. */
  flow: number | undefined;
  /** Seconds between two records of the queues; undefined for the scenario's interval. */
  queues_s?: number;
}

export interface Watched {
  hops: Hops;
  /** Records of the queues up to the end of the window. */
  queues: Tables[];
  nodes: string[];
  /** End of the known packets, in seconds. */
  until_s: number;
  /** The sequence number of the first byte; undefined if the flow has not started. */
  first: number | undefined;
  /** Whether there were more packets than the stored maximum. */
  isCut: boolean;
}

/**
 * Runs a scenario with the same seed up to the end of the window.
 *
 * @param tell receives the progress, from 0 to 1
 * @param isWanted returns whether the result is still needed
 */
export async function watched(
  door: Door,
  input: ScenarioInput,
  seed: number,
  network: Network,
  { from_s, to_s, flow, queues_s }: Window,
  tell: (part: number) => void,
  isWanted: () => boolean,
): Promise<Watched | undefined> {
  const first = flow === undefined ? undefined : await firstByte(door, input, seed, flow, to_s);
  const packets = { from_s, to_s, most: MOST, ...(flow === undefined ? {} : { flow }) };
  const started = await door.ask({ op: "start", ...withRecords(input, queues_s), seed, packets });
  if (started.errors) {
    throw new Error(started.errors.map(({ message }) => message).join("; "));
  }
  const hops = new Hops(network.links);
  if (first !== undefined && flow !== undefined) {
    hops.numbers.first.set(flow, first);
  }
  const queues: Tables[] = [];
  let rows = 0;
  let now_s = 0;
  try {
    for (let isOver = false; !isOver; ) {
      const step = await door.ask({ op: "step", run: started.run, until_s: to_s, events: EVENTS });
      if (!isWanted()) {
        return undefined;
      }
      hops.add(step.tables);
      if (step.tables.queue) {
        queues.push({ queue: step.tables.queue });
      }
      now_s = step.now_s;
      rows += step.tables.packets?.rows ?? 0;
      isOver = step.over || step.now_s >= to_s - NANOSECOND || rows >= MOST;
      tell(Math.min(1, step.now_s / to_s));
    }
  } finally {
    await door.ask({ op: "close", run: started.run });
  }
  return { hops, queues, nodes: network.nodes.map(({ name }) => name), first, until_s: now_s, isCut: rows >= MOST };
}

/**
 * Adds a trace, which contains the progress of a flow at the start of the window, and records of queues. The packets of
 * a run do not depend on what is recorded.
 */
function withRecords(input: ScenarioInput, queues_s: number | undefined): ScenarioInput {
  const queues: [string, string][] =
    queues_s === undefined
      ? []
      : [
          ["record.queue", "sampled"],
          ["record.interval", `${Math.ceil(queues_s * 1e6)} us`],
        ];
  return { ...input, sets: [...(input.sets ?? []), ["record.trace", "change"], ...queues] };
}

/** Finds the sequence number of the first byte. It is arbitrary, so it is read from the first packet of the flow. */
async function firstByte(
  door: Door,
  input: ScenarioInput,
  seed: number,
  flow: number,
  until_s: number,
): Promise<number | undefined> {
  const started = await door.ask({ op: "start", ...input, seed, packets: { from_s: 0, flow, most: 1 } });
  if (started.errors) {
    return undefined;
  }
  const hops = new Hops([]);
  try {
    for (let isOver = false; !isOver && hops.numbers.first.size === 0; ) {
      const step = await door.ask({ op: "step", run: started.run, until_s, events: EVENTS / 20 });
      hops.add(step.tables);
      isOver = step.over || step.now_s >= until_s;
    }
  } finally {
    await door.ask({ op: "close", run: started.run });
  }
  return hops.numbers.first.get(flow);
}
