/** Paths of flows over satellites and radios, as a run reports each change. */

import { effect } from "@preact/signals";
import type { Table } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";
import type { Watched } from "./watched.ts";

export interface Way {
  time_s: number;
  /** Indices of nodes, starting at the sender. */
  nodes: number[];
}

/** Maximum number of stored paths per flow. */
const MOST = 5_000;

export class Ways {
  private readonly ways = new Map<number, Way[]>();

  /**
   * Adds rows of `paths`: a row is one node of a path, and the nodes of a path follow each other. Returns false if
   * there are none.
   */
  add(paths: Table<Recorded["paths"]> | undefined): boolean {
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

  /** Returns the path of each flow at a time, if one was found by then. */
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

  /** Returns the first change of a path: of one flow, or of any. Repeated reports of a path do not count. */
  firstChange(flow: number | undefined): { time_s: number; flow: number } | undefined {
    let first: { time_s: number; flow: number } | undefined;
    for (const [number, all] of this.ways) {
      const change = all.find(({ nodes }, at) => {
        const before = all[at - 1]?.nodes ?? [];
        return at > 0 && (nodes.length !== before.length || nodes.some((node, hop) => node !== before[hop]));
      });
      if (change && (flow ?? number) === number && change.time_s < (first?.time_s ?? Number.POSITIVE_INFINITY)) {
        first = { time_s: change.time_s, flow: number };
      }
    }
    return first;
  }

  clear(): void {
    this.ways.clear();
  }
}

const kept = new WeakMap<Watched, Ways>();

/** Returns the paths of a run, recorded since the first call. */
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
