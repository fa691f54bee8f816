/** Packets of a flow in a window of time. They come from a separate run, which ends with the window. */

import type { Door, Network, ScenarioInput } from "../engine/protocol.ts";
import { Hops } from "./hops.ts";

/** Maximum number of packet rows, and of events per step, which keeps a step short. */
const MOST = 60_000;
const EVENTS = 100_000;

export interface Window {
  from_s: number;
  to_s: number;
  flow: number;
}

export interface Watched {
  hops: Hops;
  nodes: string[];
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
  { from_s, to_s, flow }: Window,
  tell: (part: number) => void,
  isWanted: () => boolean,
): Promise<Watched | undefined> {
  const first = await firstByte(door, input, seed, flow, to_s);
  const packets = { from_s, to_s, flow, most: MOST };
  const started = await door.ask({ op: "start", ...withTrace(input), seed, packets });
  if (started.errors) {
    throw new Error(started.errors.map(({ message }) => message).join("; "));
  }
  const hops = new Hops(network.links);
  if (first !== undefined) {
    hops.numbers.first.set(flow, first);
  }
  let rows = 0;
  try {
    for (let isOver = false; !isOver; ) {
      const step = await door.ask({ op: "step", run: started.run, until_s: to_s, events: EVENTS });
      if (!isWanted()) {
        return undefined;
      }
      hops.add(step.tables);
      rows += step.tables.packets?.rows ?? 0;
      isOver = step.over || step.now_s >= to_s || rows >= MOST;
      tell(Math.min(1, step.now_s / to_s));
    }
  } finally {
    await door.ask({ op: "close", run: started.run });
  }
  return { hops, nodes: network.nodes.map(({ name }) => name), first, isCut: rows >= MOST };
}

/** Adds a trace, which contains the progress of a flow at the start of the window. */
function withTrace(input: ScenarioInput): ScenarioInput {
  return { ...input, sets: [...(input.sets ?? []), ["record.trace", "change"]] };
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
