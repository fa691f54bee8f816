/** Goodput over time, from what had arrived by the ends of equal intervals. */

/** A round interval that cuts a time into 50 to 125 bins, at least 0.1 s. */
export function binWidth(seconds: number): number {
  const least = Math.max(seconds / 125, 0.1);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least * (1 - 1e-9)) ?? least;
}

/** The payload that had arrived by the ends of equal intervals, as goodput in bit/s. */
export function goodputs(times: ArrayLike<number>, arrived: ArrayLike<number>, width: number, end: number): number[] {
  const steps = Math.floor((end / width) * (1 + 1e-12));
  const found: number[] = [];
  let [row, level, before] = [0, 0, 0];
  for (let step = 0; step <= steps; step++) {
    while (row < times.length && (times[row] ?? 0) <= step * width) {
      level = arrived[row++] ?? level;
    }
    if (step > 0) {
      found.push((8 * (level - before)) / width);
    }
    before = level;
  }
  return found;
}
