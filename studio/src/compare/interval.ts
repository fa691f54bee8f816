/** Means of independent values with their Student-t intervals. */

import { analysed } from "../engine/analysis.ts";

/** A mean and the half width of its 95 % interval; the half width is NaN if there are fewer than two values. */
export interface Interval {
  mean: number;
  halfWidth: number;
  count: number;
}

/** An interval in JSON, which has no NaN. */
export interface EngineInterval {
  mean: number | null;
  half_width: number | null;
  count: number;
}

export function asInterval({ mean, half_width, count }: EngineInterval): Interval {
  return { mean: mean ?? Number.NaN, halfWidth: half_width ?? Number.NaN, count };
}

export function meanInterval(values: readonly number[]): Interval {
  return asInterval(analysed({ mean_interval: values }));
}
