/** The charts of a comparison, made by the engine from its runs. */

import { analysed } from "../engine/analysis.ts";
import type { Chart } from "../save/report/charts.ts";
import { comparisonInput } from "./answer.ts";
import type { Comparison, Contender } from "./comparison.ts";
import { asInterval, type EngineInterval, type Interval } from "./interval.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Returns the charts of a comparison. Windows are shown for the runs with this seed; goodput over time is shown for all
 * runs, or if `isAlone` is true, for the runs with this seed only.
 */
export function charts(comparison: Comparison, seed: number, isAlone = false): Chart[] {
  const about = comparisonInput(comparison, (run, contender) => {
    const { simulated_s, capacity_bps, curves } = run;
    const isShown = run === runOf(contender, seed);
    const arrived = isShown || !isAlone ? curves.arrived : null;
    return { simulated_s, capacity_bps, arrived, windows: isShown ? curves.windows : [] };
  });
  const made = analysed<Chart[]>({ charts: { ...about, seed: `seed ${seed}` } });
  for (const { x } of made.flatMap(({ panels }) => panels)) {
    if (x.label) {
      x.label = x.label.charAt(0).toUpperCase() + x.label.slice(1);
    }
  }
  return made;
}

/** Returns the run of a candidate with this seed; the one run of a candidate without randomness stands for any seed. */
function runOf({ outcomes, isRandom }: Contender, seed: number): Outcome | undefined {
  return isRandom ? outcomes.find((outcome) => outcome.seed === seed) : outcomes[0];
}

/** Mean goodput per flow of an algorithm that competes with others in the same run. */
export interface Share {
  variant: string;
  algorithm: string;
  interval: Interval;
}

export function sharesOf(comparison: Comparison): Share[] {
  const found = analysed<{ algorithm: number; name: string; interval: EngineInterval }[]>({
    shares: comparisonInput(comparison),
  });
  return found.map(({ algorithm, name, interval }) => {
    return { variant: comparison.contenders[algorithm]?.name ?? "", algorithm: name, interval: asInterval(interval) };
  });
}
