/** What a comparison compares: the measures of `lightlag compare`, and two more of a table. */

import { factorOf, fixed } from "../app/numbers.ts";
import type { Outcome } from "./outcome.ts";
import type { Interval } from "./student.ts";

export interface Measure {
  key: Exclude<keyof Outcome, "seed" | "resultHash" | "flows" | "bottleneck" | "capacityBps" | "curves">;
  title: string;
  /** As printed: "bit/s" takes a decimal prefix, "%" multiplies by 100, "ms" by 1000. */
  unit: string;
  about: string;
  moreIsBetter?: boolean;
}

const GOODPUT: Measure = {
  key: "goodputBps",
  title: "Goodput",
  unit: "bit/s",
  about:
    "payload that all flows of TCP together had delivered, over the time from the first start to the last finish or " +
    "the end of the run",
  moreIsBetter: true,
};

/** Those that the answer speaks of, in its order. */
export const MEASURES: readonly [Measure, ...Measure[]] = [
  GOODPUT,
  {
    key: "completionS",
    title: "Completion time",
    unit: "s",
    about: "from the first start to the last finish, where all flows finish",
  },
  {
    key: "jain",
    title: "Jain fairness",
    unit: "",
    about: "(Σx)² / (n Σx²) of the goodputs of the n flows of TCP of a run",
    moreIsBetter: true,
  },
  {
    key: "retransmittedShare",
    title: "Resent",
    unit: "%",
    about: "segments with payload sent again, of all that were sent",
  },
  {
    key: "queueingMeanS",
    title: "Queueing",
    unit: "ms",
    about:
      "the mean wait of a run's data packets at the bottleneck until their transmission starts; the bottleneck is the " +
      "link direction at which they waited longest in all",
  },
];

/** Those that only a table shows. */
export const MORE: readonly Measure[] = [
  { key: "timeouts", title: "Timeouts", unit: "", about: "expirations of the retransmission timers of all flows" },
  {
    key: "meanRttS",
    title: "Mean RTT",
    unit: "ms",
    about: "the mean of the round-trip samples of each flow, averaged over the flows",
  },
];

/** Mean ± half width with the unit, rounded to two digits of the half width, as `lightlag compare` prints it. */
export function show(measure: Measure, interval: Interval, like = interval.mean): string {
  if (interval.count === 0) {
    return "–";
  }
  let { mean, halfWidth } = interval;
  let unit = measure.unit;
  if (unit === "%" || unit === "ms") {
    const factor = unit === "%" ? 100 : 1000;
    mean *= factor;
    halfWidth *= factor;
  } else if (unit === "bit/s") {
    const [factor, prefix] = factorOf(like);
    mean /= factor;
    halfWidth /= factor;
    unit = `${prefix}${unit}`;
  }
  const digits = decimals(mean, halfWidth);
  const spread = Number.isNaN(halfWidth) ? "" : ` ± ${fixed(halfWidth, digits)}`;
  return `${fixed(mean, digits)}${spread}${unit === "" || unit === "%" ? "" : " "}${unit}`;
}

/** A value with its unit. */
export function amount(measure: Measure, value: number): string {
  return show(measure, { mean: value, halfWidth: Number.NaN, count: 1 });
}

/** Decimals that show two digits of the half width, but at most four digits of the mean. */
export function decimals(mean: number, halfWidth: number): number {
  const place = (value: number, digits: number) => digits - 1 - Math.floor(Math.log10(value));
  const ofMean = mean === 0 ? 0 : place(Math.abs(mean), 4);
  const ofHalf = halfWidth > 0 ? place(halfWidth, 2) : ofMean;
  return Math.max(0, Math.min(ofMean, ofHalf, 6));
}
