/** Student's t, and intervals of means. */

import { exactSum, mean } from "./sums.ts";

/**
 * The t for which a Student variable lies in [-t, t] with this probability.
 *
 * The probability is a finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4); the quantile is
 * found by bisection.
 *
 * @throws {RangeError} a confidence that is not between 0 and 1, or less than one degree of freedom
 */
export function studentT(confidence: number, freedom: number): number {
  if (!(confidence > 0 && confidence < 1) || freedom < 1) {
    throw new RangeError(`no interval of confidence ${confidence} with ${freedom} degrees of freedom`);
  }
  let low = 0;
  let high = Math.PI / 2;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (inside(middle, freedom) < confidence) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return Math.tan(low) * Math.sqrt(freedom);
}

function inside(angle: number, freedom: number): number {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = freedom % 2;
  let term = odd ? cosine : 1;
  let total = 0;
  for (let k = 2 + odd; k <= freedom; k += 2) {
    total += term;
    term *= (cosine * cosine * (k - 1)) / k;
  }
  return odd ? (2 / Math.PI) * (angle + sine * total) : sine * total;
}

/** A mean and the half width of its confidence interval, NaN below two values. */
export interface Interval {
  mean: number;
  halfWidth: number;
  count: number;
}

/** The mean of independent values with its interval. */
export function meanInterval(values: readonly number[], confidence = 0.95): Interval {
  const count = values.length;
  if (count < 2) {
    return { mean: values[0] ?? Number.NaN, halfWidth: Number.NaN, count };
  }
  const middle = mean(values);
  const spread = squares(values, middle) / (count - 1);
  return { mean: middle, halfWidth: studentT(confidence, count - 1) * Math.sqrt(spread / count), count };
}

/** Of a sample. Values that are equal have none; the sum of their rounding errors would be one. */
export function variance(values: readonly number[]): number {
  if (Math.min(...values) === Math.max(...values)) {
    return 0;
  }
  return squares(values, mean(values)) / (values.length - 1);
}

function squares(values: readonly number[], middle: number): number {
  return exactSum(values.map((value) => (value - middle) ** 2));
}
