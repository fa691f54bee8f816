/** The conclusion of a comparison, in sentences from the engine. */

import { analysed } from "../engine/analysis.ts";
import type { Comparison, Contender } from "./comparison.ts";
import type { Outcome } from "./outcome.ts";

export interface Answer {
  headline: string;
  /** Further sentences: the other variants, other metrics, and flows that compete in one run. */
  sentences: string[];
}

/** Returns the conclusion from the finished runs; undefined if none has finished. */
export function answer(comparison: Comparison): Answer | undefined {
  return analysed<Answer | null>({ answer: comparisonInput(comparison) }) ?? undefined;
}

/** Converts a comparison to the engine's form. `more` adds data of a run other than its flows. */
export function comparisonInput(comparison: Comparison, more?: (run: Outcome, contender: Contender) => object): object {
  const { contenders, columns } = comparison;
  const cells = contenders.map((contender, algorithm) => ({
    algorithm,
    point: 0,
    is_fixed: comparison.isFixed(contender),
    values: Object.fromEntries(columns.map((measure) => [measure.column, [...comparison.values(contender, measure)]])),
    runs: contender.outcomes.map((run) => ({ seed: run.seed, flows: run.flows, ...more?.(run, contender) })),
  }));
  const measures = columns.map(({ column }) => column);
  return { algorithms: contenders.map(({ name }) => name), points: [[]], measures, cells };
}
