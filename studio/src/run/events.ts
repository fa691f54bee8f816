/** Events with times: drops, and changes of a sender's state. Both with bounded memory. */

import type { Table } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";
import { placeOf } from "./decimate.ts";
import type { Losses, LossQuery, States } from "./messages.ts";

/** Maximum number of stored state changes per sender. */
const CHANGES = 100_000;
/** Maximum number of stored drops; beyond it, drops of a short interval are merged. */
const DROPS = 50_000;

interface Drops {
  time: number[];
  count: number[];
  flow: number[];
  link: number[];
  cause: number[];
}

const none = (): Drops => ({ time: [], count: [], flow: [], link: [], cause: [] });

/** Packets that were dropped on the forward path. */
export class DropRows {
  isThinned = false;
  private drops = none();
  private causes: string[] = [];

  constructor(private readonly most = DROPS) {}

  add({ rows, columns }: Table<Recorded["drops"]>): void {
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

  /** Returns the drops between two times; drops too close to be distinguished are merged, with their number. */
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

/** Merges the drops of each flow, link and cause in each of `parts` equal parts of the time. */
function merged(all: Drops, from: number, to: number, parts: number): Drops {
  const found = none();
  const places = new Map<number, number>();
  for (let row = placeOf(all.time, from, false); row < all.time.length; row++) {
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

/** The sequence of a sender's states. */
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
      // Every second interval of a state that is not open is removed, with the interval after it.
      this.times = this.times.filter((_, at) => at % 4 < 2);
      this.phases = this.phases.filter((_, at) => at % 4 < 2);
    }
  }

  states(): States {
    return { from_s: Float64Array.from(this.times), state: Uint8Array.from(this.phases), names: this.names };
  }
}
