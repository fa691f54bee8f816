/** Rows of a flow or a link, in growing columns. */

const FIRST = 256;

/** Times in ascending order, and numbers beside them; NaN where a number is missing. */
export class Rows {
  count = 0;
  time = new Float64Array(FIRST);
  readonly columns: Record<string, Float64Array> = {};

  constructor(readonly names: readonly string[]) {
    for (const name of names) {
      this.columns[name] = new Float64Array(FIRST);
    }
  }

  /** Makes room for a row, and gives its number. */
  grow(time: number): number {
    if (this.count === this.time.length) {
      this.resize(Math.ceil(this.count * 1.5));
    }
    this.time[this.count] = time;
    return this.count++;
  }

  /** The values of a column. */
  column(name: string): Float64Array {
    const column = this.columns[name];
    if (!column) {
      throw new Error(`no column "${name}"; there are ${this.names.join(", ")}`);
    }
    return column.subarray(0, this.count);
  }

  /**
   * Makes two rows of each four: of each column the least and the greatest value, in the order in which they came. The
   * rows after the last four stay.
   */
  halve(): void {
    const fours = Math.floor(this.count / 4);
    for (const name of this.names) {
      const values = this.columns[name] as Float64Array;
      for (let four = 0; four < fours; four++) {
        const [first, second] = ends(values, 4 * four, 4 * four + 4);
        values[2 * four] = first;
        values[2 * four + 1] = second;
      }
      values.copyWithin(2 * fours, 4 * fours, this.count);
    }
    for (let four = 0; four < fours; four++) {
      this.time[2 * four] = this.time[4 * four] as number;
      this.time[2 * four + 1] = this.time[4 * four + 2] as number;
    }
    this.time.copyWithin(2 * fours, 4 * fours, this.count);
    this.count -= 2 * fours;
    this.resize(Math.max(FIRST, Math.ceil(this.count * 1.5)));
  }

  private resize(room: number): void {
    this.time = resized(this.time, this.count, room);
    for (const name of this.names) {
      this.columns[name] = resized(this.columns[name] as Float64Array, this.count, room);
    }
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
