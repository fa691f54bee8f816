/** Rows of a flow or a link, in growing columns. */

import { Blocks } from "./decimate.ts";

const FIRST = 256;

/** Times in ascending order, and numbers beside them; NaN where a number is missing. */
export class Rows {
  count = 0;
  time = new Float64Array(FIRST);
  private values: Float64Array[];
  private ends: Record<string, Blocks> = {};
  /** How often the first `even` rows were halved. */
  private level = 0;
  private even = 0;

  constructor(readonly names: readonly string[]) {
    this.values = names.map(() => new Float64Array(FIRST));
  }

  /** Takes a row: a time, and of each column's source the value with this number. */
  push(time: number, sources: (ArrayLike<number> | undefined)[], row: number): void {
    const at = this.count++;
    if (at === this.time.length) {
      this.resize(Math.ceil(at * 1.5), at);
    }
    this.time[at] = time;
    for (let column = 0; column < this.values.length; column++) {
      (this.values[column] as Float64Array)[at] = sources[column]?.[row] ?? Number.NaN;
    }
  }

  get times(): Float64Array {
    return this.time.subarray(0, this.count);
  }

  /** Where the least and the greatest values of a column are. */
  blocks(name: string): Blocks {
    const blocks = this.ends[name] ?? new Blocks();
    this.ends[name] = blocks;
    blocks.extend(this.column(name));
    return blocks;
  }

  /** The values of a column. */
  column(name: string): Float64Array {
    const column = this.values[this.names.indexOf(name)];
    if (!column) {
      throw new Error(`no column "${name}"; there are ${this.names.join(", ")}`);
    }
    return column.subarray(0, this.count);
  }

  /** Halves the rows until all are as thin as after so many halvings; those that came since the last time, too. */
  thin(level: number): void {
    const tail = this.level;
    for (let time = 0; time < tail; time++) {
      this.halve(this.even);
    }
    for (; this.level < level; this.level++) {
      this.halve(0);
    }
    this.even = this.count;
    this.ends = {};
    this.resize(Math.max(FIRST, Math.ceil(this.count * 1.5)), this.count);
  }

  /**
   * Makes two rows of each four: of each column the least and the greatest value, in the order in which they came. The
   * rows after the last four stay.
   */
  private halve(from: number): void {
    const fours = Math.floor((this.count - from) / 4);
    for (const values of this.values) {
      for (let four = 0; four < fours; four++) {
        const [first, second] = ends(values, from + 4 * four, from + 4 * four + 4);
        values[from + 2 * four] = first;
        values[from + 2 * four + 1] = second;
      }
      values.copyWithin(from + 2 * fours, from + 4 * fours, this.count);
    }
    for (let four = 0; four < fours; four++) {
      this.time[from + 2 * four] = this.time[from + 4 * four] as number;
      this.time[from + 2 * four + 1] = this.time[from + 4 * four + 2] as number;
    }
    this.time.copyWithin(from + 2 * fours, from + 4 * fours, this.count);
    this.count -= 2 * fours;
  }

  private resize(room: number, count: number): void {
    this.time = resized(this.time, count, room);
    this.values = this.values.map((values) => resized(values, count, room));
  }
}

function resized(values: Float64Array, count: number, room: number): Float64Array<ArrayBuffer> {
  const next = new Float64Array(room);
  next.set(values.subarray(0, count));
  return next;
}

/** The least and the greatest of some values, the earlier one first; NaN if there is none. */
function ends(values: Float64Array, from: number, to: number): [number, number] {
  let low = -1;
  let high = -1;
  for (let at = from; at < to; at++) {
    const value = values[at] as number;
    if (Number.isNaN(value)) {
      continue;
    }
    if (low < 0 || value < (values[low] as number)) {
      low = at;
    }
    if (high < 0 || value >= (values[high] as number)) {
      high = at;
    }
  }
  if (low < 0) {
    return [Number.NaN, Number.NaN];
  }
  return [values[Math.min(low, high)] as number, values[Math.max(low, high)] as number];
}
