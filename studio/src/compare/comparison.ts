/** Variants side by side: their outcomes and intervals. */

import { type Interval, meanInterval } from "./interval.ts";
import { type Measure, measures } from "./measures.ts";
import { isSame, type Outcome } from "./outcome.ts";

export interface Contender {
  name: string;
  outcomes: readonly Outcome[];
  /** Whether its runs are random; a variant without randomness runs once. */
  isRandom: boolean;
}

export class Comparison {
  /** Variants with finished runs. */
  readonly contenders: readonly Contender[];

  constructor(contenders: readonly Contender[]) {
    this.contenders = contenders.filter(({ outcomes }) => outcomes.length > 0);
  }

  /** Returns true if all runs of a candidate are equal: they count as one. */
  isFixed({ outcomes, isRandom }: Contender): boolean {
    const [first, ...rest] = outcomes;
    return !isRandom || (first !== undefined && rest.length > 0 && rest.every((outcome) => isSame(first, outcome)));
  }

  /** Metrics of the conclusion for which some run has a value; fairness only if there are several flows. */
  get measures(): Measure[] {
    return this.columns.filter(({ is_answered }) => is_answered);
  }

  /** Metrics in the table. */
  get columns(): Measure[] {
    return measures().filter((measure) => this.has(measure));
  }

  private has({ column }: Measure): boolean {
    const outcomes = this.contenders.flatMap(({ outcomes }) => outcomes);
    const isAlone = outcomes.every(({ flows }) => flows.length === 1);
    return !(column === "jain" && isAlone) && outcomes.some((outcome) => outcome[column] !== null);
  }

  /** All seeds of finished runs, in their order. */
  private get seeds(): number[] {
    const seeds = this.contenders.flatMap(({ outcomes }) => outcomes.map(({ seed }) => seed));
    return [...new Set(seeds)].sort((a, b) => a - b);
  }

  /**
   * Returns a metric of each run of a candidate by seed, where it has one. The one run of a candidate without
   * randomness stands for all seeds, so that it pairs with the others.
   */
  values({ outcomes, isRandom }: Contender, { column }: Measure): Map<number, number> {
    const [only] = outcomes;
    const all = isRandom || !only ? outcomes : this.seeds.map((seed) => ({ ...only, seed }));
    const pairs = all.flatMap((outcome): [number, number][] => {
      const value = outcome[column];
      return value === null ? [] : [[outcome.seed, value]];
    });
    return new Map(pairs);
  }

  /** Returns mean and 95 % interval of a metric; no half width if all runs are equal. */
  interval(contender: Contender, measure: Measure): Interval {
    const interval = meanInterval([...this.values(contender, measure).values()]);
    return this.isFixed(contender) ? { ...interval, halfWidth: Number.NaN } : interval;
  }
}
