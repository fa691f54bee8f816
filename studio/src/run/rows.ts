/** Rows of a flow or a link, in growing columns. */

import { Blocks } from "./decimate.ts";

const FIRST = 256;

/** Times in ascending order, and columns of numbers; NaN where a number is missing. */
export class Rows {
  count = 0;
  time = new Float64Array(FIRST);
  private values: Float64Array[];
  private ends: Record<string, Blocks> = {};
  /** Number of times that the first `even` rows were halved. */
  private level = 0;
  private even = 0;

  constructor(readonly names: readonly string[]) {
    this.values = names.map(() => new Float64Array(FIRST));
  }

  /** Adds a row: a time, and for each column the value at index `row` of its source. */
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

  /** Indices of the minima and maxima of a column. */
  blocks(name: string): Blocks {
    const blocks = this.ends[name] ?? new Blocks();
    this.ends[name] = blocks;
    blocks.extend(this.column(name));
    return blocks;
  }

  /** Returns the values of a column. */
  column(name: string): Float64Array {
    const column = this.values[this.names.indexOf(name)];
    if (!column) {
      throw new Error(`no column "${name}"; there are ${this.names.join(", ")}`);
    }
    return column.subarray(0, this.count);
  }

  /** Halves all rows, including new ones, until they are as decimated as after `level` halvings. */
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
   * Replaces every four rows by two, with the minimum and the maximum of each column in their original order. Up to
   * three rows at the end are left.
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

/** Returns the minimum and the maximum of some values, the earlier one first; NaN if there is none. */
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
