/** Fewer points that draw the same picture. */

/** Points of a line, x ascending. */
export interface Points {
  x: Float64Array;
  y: Float64Array;
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
export function decimated(x: Float64Array, y: Float64Array, from: number, to: number, most: number): Points {
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
    let low = -1;
    let high = -1;
    for (let row = at; row < end; row++) {
      const value = y[row] as number;
      if (low < 0 ? !Number.isNaN(value) : value < (y[low] as number)) {
        low = row;
      }
      if (high < 0 ? !Number.isNaN(value) : value >= (y[high] as number)) {
        high = row;
      }
    }
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
