/** Unwrapping of 32-bit sequence numbers. */

import type { Table } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";

/** Direction of the bytes that a number counts: from the flow's sender, or from its receiver. */
export type Space = "forward" | "backward";

/** Unwraps the sequence numbers of the flows of a run. */
export class Sequences {
  /** Sequence number of the first byte of each flow, as in its packets. */
  readonly first = new Map<number, number>();
  private readonly reached = new Map<string, number>();
  private readonly acked = new Map<number, number>();

  /**
   * Stores how far the data of each flow is acknowledged at a time; sequence numbers of packets watched later are near
   * it.
   */
  note(trace: Table<Recorded["trace"]> | undefined, until_s = Number.POSITIVE_INFINITY): void {
    const { time_s, flow, leg, acked_bytes } = trace?.columns ?? {};
    for (let row = 0; row < (trace?.rows ?? 0) && (time_s?.values[row] ?? 0) <= until_s; row++) {
      if ((leg?.values[row] || 1) === 1) {
        this.acked.set(flow?.values[row] ?? 0, acked_bytes?.values[row] ?? 0);
      }
    }
  }

  /** Unwraps a number that is within 2 GB of the previous one, before or after it. */
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
