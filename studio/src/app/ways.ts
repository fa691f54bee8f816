/** The ways of flows over satellites and radios, as a run tells them whenever they change. */

import { effect } from "@preact/signals";
import type { Table } from "../engine/protocol.ts";
import type { Watched } from "./watched.ts";

export interface Way {
  time_s: number;
  /** Numbers of nodes, from the sender on. */
  nodes: number[];
}

/** As many ways of a flow are kept. */
const MOST = 5_000;

export class Ways {
  private readonly ways = new Map<number, Way[]>();

  /** Takes rows of `paths`: a row is one node on a way, and the nodes of a way follow each other. */
  add(paths: Table | undefined): boolean {
    const { time_s, flow, hop, node } = paths?.columns ?? {};
    for (let row = 0; row < (paths?.rows ?? 0); row++) {
      const number = flow?.values[row] ?? 0;
      const all = this.ways.get(number) ?? [];
      this.ways.set(number, all);
      if (hop?.values[row] === 0) {
        all.push({ time_s: time_s?.values[row] ?? 0, nodes: [] });
        if (all.length > MOST) {
          all.shift();
        }
      }
      all.at(-1)?.nodes.push(node?.values[row] ?? 0);
    }
    return (paths?.rows ?? 0) > 0;
  }

  /** The way of each flow at a time, as far as one was found by then. */
  at(time: number): Map<number, Way> {
    const found = new Map<number, Way>();
    for (const [flow, all] of this.ways) {
      const way = all.findLast(({ time_s }) => time_s <= time);
      if (way) {
        found.set(flow, way);
      }
    }
    return found;
  }

  clear(): void {
    this.ways.clear();
  }
}

const kept = new WeakMap<Watched, Ways>();

/** The ways of a run, from the moment at which they were first asked for. */
export function waysOf(live: Watched): Ways {
  const before = kept.get(live);
  if (before) {
    return before;
  }
  const ways = new Ways();
  kept.set(live, ways);
  live.onStep(({ tables }) => ways.add(tables.paths));
  effect(() => {
    if (live.round.value > 1) {
      ways.clear();
    }
  });
  return ways;
}
