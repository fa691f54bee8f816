/** Sequence numbers of 32 bits, as packets have them, counted on beyond 2^32. */

import type { Table } from "../engine/protocol.ts";

/** The bytes of which a number counts: those of the flow's sender, or those of its receiver. */
export type Space = "forward" | "backward";

/** The numbers of the flows of a run. */
export class Sequences {
  /** The number of the first byte of each flow, as its packets have it. */
  readonly first = new Map<number, number>();
  private readonly reached = new Map<string, number>();
  private readonly acked = new Map<number, number>();

  /** Takes what was acknowledged up to a time: packets that are watched from then on have numbers near it. */
  note(trace: Table | undefined, until_s = Number.POSITIVE_INFINITY): void {
    const { time_s, flow, leg, acked_bytes } = trace?.columns ?? {};
    for (let row = 0; row < (trace?.rows ?? 0) && (time_s?.values[row] ?? 0) <= until_s; row++) {
      if ((leg?.values[row] || 1) === 1) {
        this.acked.set(flow?.values[row] ?? 0, acked_bytes?.values[row] ?? 0);
      }
    }
  }

  /** A number that is within 2 GB of the one before it, which it may follow or precede. */
  unwrapped(flow: number, space: Space, value: number): number {
    const key = `${flow} ${space}`;
    const near = this.reached.get(key) ?? this.start(flow, space) ?? value;
    const found = near + ((value - near) | 0);
    this.reached.set(key, found);
    return found;
  }

  private start(flow: number, space: Space): number | undefined {
    const first = this.first.get(flow);
    return space === "forward" && first !== undefined ? first + (this.acked.get(flow) ?? 0) : undefined;
  }
}
