/** Fewer points that draw the same picture. */

/** Points of a line, x ascending. */
export interface Points {
  x: Float64Array;
  y: Float64Array;
}

/** Rows of a block. */
const BLOCK = 256;

/** The places of the least and greatest values of each block of rows, so that long parts are looked through fast. */
export class Blocks {
  private count = 0;
  private places = new Int32Array(64);

  /** Takes the blocks that have become whole. */
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

  /** Adds the rows of a part to what was found. */
  look(y: Float64Array, from: number, to: number, found: Ends): void {
    const first = Math.ceil(from / BLOCK);
    const last = Math.min(this.count, Math.floor(to / BLOCK));
    if (first >= last) {
      look(y, from, to, found);
      return;
    }
    look(y, from, first * BLOCK, found);
    for (let block = first; block < last; block++) {
      for (let end = 0; end < 2; end++) {
        const place = this.places[2 * block + end] as number;
        if (place >= 0) {
          look(y, place, place + 1, found);
        }
      }
    }
    look(y, last * BLOCK, to, found);
  }
}

/** The places of the least and the greatest value; -1 where there is none. */
type Ends = [low: number, high: number];

function look(y: Float64Array, from: number, to: number, found: Ends): void {
  let [low, high] = found;
  for (let row = from; row < to; row++) {
    const value = y[row] as number;
    if (low < 0 ? !Number.isNaN(value) : value < (y[low] as number)) {
      low = row;
    }
    if (high < 0 ? !Number.isNaN(value) : value >= (y[high] as number)) {
      high = row;
    }
  }
  found[0] = low;
  found[1] = high;
}

/** The first place in ascending numbers whose number is above (or not below) a bound. */
export function placeOf(values: Float64Array, bound: number, isAbove: boolean, from = 0, to = values.length): number {
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
 * The points between two times, and the one on each side of them. Where there are more than `most`, the time is cut into
 * equal parts, and each keeps its least and its greatest value. Missing numbers (NaN) take no part there.
 */
export function decimated(
  x: Float64Array,
  y: Float64Array,
  from: number,
  to: number,
  most: number,
  blocks = new Blocks(),
): Points {
  const first = Math.max(0, placeOf(x, from, true) - 1);
  const last = Math.min(x.length, placeOf(x, to, false) + 1);
  if (last - first <= Math.max(4, most)) {
    return { x: x.slice(first, last), y: y.slice(first, last) };
  }
  const parts = Math.max(1, Math.floor(most / 2) - 1);
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

/** A level at certain times: by straight lines between its rows, 0 before the first, that of the last behind it. */
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

/** A round interval that cuts a time into 50 to 125 bins, at least `least` seconds. */
export function binWidth(seconds: number, shortest = 0.1): number {
  const least = Math.max(seconds / 125, shortest);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return ([1, 2, 5, 10].find((step) => step * power >= least * (1 - 1e-9)) ?? 10) * power;
}
