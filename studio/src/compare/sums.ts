/** Sums as Python makes them, so that the page and the command line say the same to the last digit. */

/** The exact sum of numbers, rounded once (Shewchuk 1997). */
export function exactSum(values: Iterable<number>): number {
  const parts: number[] = [];
  for (const value of values) {
    let x = value;
    let kept = 0;
    for (const part of parts) {
      const [large, small] = Math.abs(x) < Math.abs(part) ? [part, x] : [x, part];
      const high = large + small;
      const low = small - (high - large);
      if (low !== 0) {
        parts[kept++] = low;
      }
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  return rounded(parts);
}

/** The sum of parts that do not overlap, the smallest first. */
function rounded(parts: number[]): number {
  let at = parts.length - 1;
  let high = parts[at] ?? 0;
  let low = 0;
  while (at > 0) {
    const x = high;
    const y = parts[--at] ?? 0;
    high = x + y;
    low = y - (high - x);
    if (low !== 0) {
      break;
    }
  }
  // Half way between two numbers, what is left decides.
  const below = parts[at - 1] ?? 0;
  if (at > 0 && ((low < 0 && below < 0) || (low > 0 && below > 0))) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) {
      return next;
    }
  }
  return high;
}

export function mean(values: readonly number[]): number {
  return exactSum(values) / values.length;
}
