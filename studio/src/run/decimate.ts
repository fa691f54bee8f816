/** Decimation to fewer points that give the same plot. */

/** Points of a line, x ascending. */
export interface Points {
  x: Float64Array;
  y: Float64Array;
}

/** Number of rows per block. */
const BLOCK = 256;

/** Indices of the minimum and maximum of each block of rows, so that long parts are searched fast. */
export class Blocks {
  private count = 0;
  private places = new Int32Array(64);

  /** Adds the blocks that have become complete. */
  extend(y: Float64Array): void {
    const whole = Math.floor(y.length / BLOCK);
    if (2 * whole > this.places.length) {
      const next = new Int32Array(4 * whole);
      next.set(this.places);
      this.places = next;
    }
    for (; this.count < whole; this.count++) {
      const found: Ends = [-1, -1];
      look(y, this.count * BLOCK, (this.count + 1) * BLOCK, found);
      this.places.set(found, 2 * this.count);
    }
  }

  /** Updates `extremes` with the rows `from` to `to`. */
  look(y: Float64Array, from: number, to: number, extremes: Ends): void {
    const first = Math.ceil(from / BLOCK);
    const last = Math.min(this.count, Math.floor(to / BLOCK));
    if (first >= last) {
      look(y, from, to, extremes);
      return;
    }
    look(y, from, first * BLOCK, extremes);
    for (let block = first; block < last; block++) {
      for (let end = 0; end < 2; end++) {
        const row = this.places[2 * block + end] as number;
        if (row >= 0) {
          look(y, row, row + 1, extremes);
        }
      }
    }
    look(y, last * BLOCK, to, extremes);
  }
}

/** Indices of the minimum and the maximum; -1 if there is none. */
type Ends = [low: number, high: number];

function look(y: Float64Array, from: number, to: number, extremes: Ends): void {
  let [low, high] = extremes;
  for (let row = from; row < to; row++) {
    const value = y[row] as number;
    if (low < 0 ? !Number.isNaN(value) : value < (y[low] as number)) {
      low = row;
    }
    if (high < 0 ? !Number.isNaN(value) : value >= (y[high] as number)) {
      high = row;
    }
  }
  extremes[0] = low;
  extremes[1] = high;
}

/** Returns the first index in ascending numbers whose value is above (or not below) a bound. */
export function placeOf(
  values: ArrayLike<number>,
  bound: number,
  isAbove: boolean,
  from = 0,
  to = values.length,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = values[middle] as number;
    if (isAbove ? value <= bound : value < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Returns the points between two times, and the nearest point on each side. If there are more than `most`, the time is
 * divided into equal parts, of which only the minimum and the maximum are returned; missing numbers (NaN) are then
 * ignored.
 */
export function decimated(
  x: Float64Array,
  y: Float64Array,
  from: number,
  to: number,
  maxPoints: number,
  blocks = new Blocks(),
): Points {
  const first = Math.max(0, placeOf(x, from, true) - 1);
  const last = Math.min(x.length, placeOf(x, to, false) + 1);
  if (last - first <= Math.max(4, maxPoints)) {
    return { x: x.slice(first, last), y: y.slice(first, last) };
  }
  const parts = Math.max(1, Math.floor(maxPoints / 2) - 1);
  const kept = new Uint32Array(2 * parts + 2);
  let count = 0;
  kept[count++] = first;
  let at = first + 1;
  for (let part = 1; part <= parts && at < last - 1; part++) {
    const end = part === parts ? last - 1 : placeOf(x, from + ((to - from) * part) / parts, false, at, last - 1);
    if (end === at) {
      continue;
    }
    const found: Ends = [-1, -1];
    blocks.look(y, at, end, found);
    const [low, high] = found;
    if (low < 0) {
      kept[count++] = at;
    } else {
      kept[count++] = Math.min(low, high);
      if (low !== high) {
        kept[count++] = Math.max(low, high);
      }
    }
    at = end;
  }
  kept[count++] = last - 1;
  const points = { x: new Float64Array(count), y: new Float64Array(count) };
  for (let row = 0; row < count; row++) {
    points.x[row] = x[kept[row] as number] as number;
    points.y[row] = y[kept[row] as number] as number;
  }
  return points;
}

/** Interpolates a level linearly between its rows; it is 0 before the first and constant after the last. */
export function levelAt(times: ArrayLike<number>, x: Float64Array, level: Float64Array): Float64Array {
  const found = new Float64Array(times.length);
  let row = 0;
  for (let at = 0; at < times.length; at++) {
    const time = times[at] as number;
    row = placeOf(x, time, true, row);
    if (row === 0) {
      found[at] = 0;
    } else if (row === x.length || x[row - 1] === time) {
      found[at] = level[row - 1] as number;
    } else {
      const start = x[row - 1] as number;
      const low = level[row - 1] as number;
      found[at] = (((level[row] as number) - low) / ((x[row] as number) - start)) * (time - start) + low;
    }
  }
  return found;
}

/** Returns a round interval that cuts a time into 50 to 125 bins of at least `shortest` seconds. */
export function binWidth(seconds: number, shortest = 0.1): number {
  const least = Math.max(seconds / 125, shortest);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return ([1, 2, 5, 10].find((step) => step * power >= least * (1 - 1e-9)) ?? 10) * power;
}
