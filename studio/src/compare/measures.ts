/** The metrics of a comparison, as the engine defines them. */

import { analysed } from "../engine/analysis.ts";
import type { Interval } from "./interval.ts";
import type { OutcomeOfRun } from "./outcome.ts";

export interface Measure {
  column: Exclude<keyof OutcomeOfRun, "flows" | "bottleneck" | "capacity_bps">;
  title: string;
  /** Unit as printed: "bit/s" takes a decimal prefix, "%" multiplies by 100, "ms" by 1000. */
  unit: string;
  about: string;
  /** Whether the conclusion uses the metric; other metrics appear only in the table. */
  is_answered: boolean;
}

let known: Measure[] | undefined;

/** Returns the metrics in the table: all except the percentile of queueing delays. */
export function measures(): readonly Measure[] {
  known ??= analysed<Measure[]>("measures").filter(({ column }) => column !== "queueing_p95_s");
  return known;
}

/** Returns the metric that ranks the variants. */
export function goodputMeasure(): Measure {
  return measures()[0] as Measure;
}

/** Formats mean ± half width with the unit, rounded to two digits of the half width, as `lightlag compare` does. */
export function show({ unit }: Measure, { mean, halfWidth, count }: Interval, like = mean): string {
  return analysed({ shown: { unit, mean, half_width: halfWidth, count, like } });
}
