/** What happens at times: drops, and changes of a sender's state. Both with bounded memory. */

import type { Table } from "../engine/protocol.ts";
import type { Losses, LossQuery, States } from "./messages.ts";

/** Changes of a state that are kept of a sender. */
const CHANGES = 100_000;
/** Drops from which on those of short intervals are one. */
const DROPS = 50_000;

interface Drops {
  time: number[];
  count: number[];
  flow: number[];
  link: number[];
  cause: number[];
}

const none = (): Drops => ({ time: [], count: [], flow: [], link: [], cause: [] });

/** Packets that were dropped on their way to their receivers. */
export class DropRows {
  isThinned = false;
  private drops = none();
  private causes: string[] = [];

  constructor(private readonly most = DROPS) {}

  add({ rows, columns }: Table): void {
    const { time_s, flow, link, cause, backward } = columns;
    this.causes = Array.isArray(cause?.names) ? cause.names : this.causes;
    for (let row = 0; row < rows; row++) {
      if (!backward?.values[row]) {
        push(
          this.drops,
          time_s?.values[row] ?? 0,
          1,
          flow?.values[row] ?? 0,
          link?.values[row] ?? 0,
          cause?.values[row] ?? 0,
        );
      }
    }
    if (this.drops.time.length > this.most) {
      const { time } = this.drops;
      this.drops = merged(this.drops, time[0] ?? 0, time.at(-1) ?? 0, 10_000);
      this.isThinned = true;
    }
  }

  /** Drops between two times; those that are too close to be told apart are one, with their number. */
  losses({ from_s, to_s, points }: LossQuery): Losses {
    const near = merged(this.drops, from_s, to_s, points);
    return {
      x: Float64Array.from(near.time),
      count: Uint32Array.from(near.count),
      flow: Uint32Array.from(near.flow),
      link: Uint32Array.from(near.link),
      cause: Uint8Array.from(near.cause),
      causes: this.causes,
    };
  }
}

/** The drops between two times; of each flow, link and cause those of each of so many equal parts of the time are one. */
function merged(all: Drops, from: number, to: number, parts: number): Drops {
  const found = none();
  const places = new Map<number, number>();
  for (let row = firstAt(all.time, from); row < all.time.length; row++) {
    const time = all.time[row] as number;
    if (time > to) {
      break;
    }
    const part = to > from ? Math.floor(((time - from) / (to - from)) * parts) : 0;
    const [flow, link, cause, count] = [all.flow[row], all.link[row], all.cause[row], all.count[row]] as number[];
    const key = ((part * 8192 + (flow as number)) * 8192 + (link as number)) * 16 + (cause as number);
    const place = places.get(key);
    if (place === undefined) {
      places.set(key, found.time.length);
      push(found, time, count as number, flow as number, link as number, cause as number);
    } else {
      found.count[place] = (found.count[place] as number) + (count as number);
    }
  }
  return found;
}

function push(drops: Drops, time: number, count: number, flow: number, link: number, cause: number): void {
  drops.time.push(time);
  drops.count.push(count);
  drops.flow.push(flow);
  drops.link.push(link);
  drops.cause.push(cause);
}

function firstAt(times: number[], from: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The states that a sender went through. */
export class PhaseRows {
  private times: number[] = [];
  private phases: number[] = [];

  constructor(private readonly names: string[]) {}

  get last(): string {
    return this.names[this.phases.at(-1) ?? -1] ?? "";
  }

  take(time: number, phase: number): void {
    if (phase === this.phases.at(-1)) {
      return;
    }
    this.times.push(time);
    this.phases.push(phase);
    if (this.times.length > CHANGES) {
      // Every second spell of another state goes, with the one after it.
      this.times = this.times.filter((_, at) => at % 4 < 2);
      this.phases = this.phases.filter((_, at) => at % 4 < 2);
    }
  }

  states(): States {
    return { from_s: Float64Array.from(this.times), state: Uint8Array.from(this.phases), names: this.names };
  }
}
