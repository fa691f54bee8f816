/** Variants side by side: their outcomes, intervals and rankings. */

import { MEASURES, type Measure, MORE } from "./measures.ts";
import { isSame, type Outcome } from "./outcome.ts";
import { type Ranking, type Rival, ranked } from "./ranking.ts";
import { type Interval, meanInterval } from "./student.ts";

export interface Contender {
  name: string;
  outcomes: readonly Outcome[];
  /** Whether chance has a part in its runs; one whose runs are not random runs once. */
  isRandom: boolean;
}

export class Comparison {
  /** Those that have finished runs. */
  readonly contenders: readonly Contender[];

  constructor(contenders: readonly Contender[]) {
    this.contenders = contenders.filter(({ outcomes }) => outcomes.length > 0);
  }

  /** Whether all runs of a contender are the same: they count as one. */
  isFixed({ outcomes, isRandom }: Contender): boolean {
    const [first, ...rest] = outcomes;
    return !isRandom || (first !== undefined && rest.length > 0 && rest.every((outcome) => isSame(first, outcome)));
  }

  /** The measures that some run has; fairness only among several flows. */
  get measures(): Measure[] {
    return MEASURES.filter((measure) => this.has(measure));
  }

  /** Those of a table. */
  get columns(): Measure[] {
    return [...this.measures, ...MORE.filter((measure) => this.has(measure))];
  }

  private has({ key }: Measure): boolean {
    const outcomes = this.contenders.flatMap(({ outcomes }) => outcomes);
    const isAlone = outcomes.every(({ flows }) => flows.length === 1);
    return !(key === "jain" && isAlone) && outcomes.some((outcome) => outcome[key] !== null);
  }

  /** All seeds of finished runs, in their order. */
  private get seeds(): number[] {
    const seeds = this.contenders.flatMap(({ outcomes }) => outcomes.map(({ seed }) => seed));
    return [...new Set(seeds)].sort((a, b) => a - b);
  }

  /**
   * A measure of each run of a contender by seed, where it has one. The one run of a contender without chance stands for those
   * of all seeds, so that it pairs with the others.
   */
  values({ outcomes, isRandom }: Contender, { key }: Measure): Map<number, number> {
    const [only] = outcomes;
    const all = isRandom || !only ? outcomes : this.seeds.map((seed) => ({ ...only, seed }));
    const pairs = all.flatMap((outcome): [number, number][] => {
      const value = outcome[key];
      return value === null || Number.isNaN(value) ? [] : [[outcome.seed, value]];
    });
    return new Map(pairs);
  }

  /** Mean and 95 % interval of a measure; no half width where all runs are the same. */
  interval(contender: Contender, measure: Measure): Interval {
    const interval = meanInterval([...this.values(contender, measure).values()]);
    return this.isFixed(contender) ? { ...interval, halfWidth: Number.NaN } : interval;
  }

  /** The ranking by a measure; undefined where nobody has a value. */
  ranking(measure: Measure): Ranking | undefined {
    const rivals = this.contenders.map(
      (contender): Rival => ({
        name: contender.name,
        values: this.values(contender, measure),
        isFixed: this.isFixed(contender),
      }),
    );
    return ranked(rivals, measure.moreIsBetter ?? false);
  }
}
