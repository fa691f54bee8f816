/** Packets of a flow in a window of time: from a run of its own, which ends with the window. */

import type { Asked, Door, Network } from "../engine/protocol.ts";
import { Hops } from "./hops.ts";

/** The most rows of packets, and events of a step: a step lasts a blink. */
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
  /** The sequence number of the first byte; undefined where the flow has not started. */
  first: number | undefined;
  /** Whether there were more packets than are kept. */
  isCut: boolean;
}

/**
 * Runs a scenario with the same seed up to the end of the window.
 *
 * @param tell says how far it is, from 0 to 1
 * @param isWanted says whether somebody still waits
 */
export async function watched(
  door: Door,
  asked: Asked,
  seed: number,
  network: Network,
  { from_s, to_s, flow }: Window,
  tell: (part: number) => void,
  isWanted: () => boolean,
): Promise<Watched | undefined> {
  const first = await firstByte(door, asked, seed, flow, to_s);
  const packets = { from_s, to_s, flow, most: MOST };
  const started = await door.ask({ op: "start", ...withTrace(asked), seed, packets });
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

/** With a trace, which tells how far a flow is when the window starts. */
function withTrace(asked: Asked): Asked {
  return { ...asked, sets: [...(asked.sets ?? []), ["record.trace", "change"]] };
}

/** Sequence numbers start anywhere: the first packet of the flow tells where. */
async function firstByte(
  door: Door,
  asked: Asked,
  seed: number,
  flow: number,
  until_s: number,
): Promise<number | undefined> {
  const started = await door.ask({ op: "start", ...asked, seed, packets: { from_s: 0, flow, most: 1 } });
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
