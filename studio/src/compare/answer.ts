/** The conclusion of a comparison, in sentences from the engine. */

import { analysed } from "../engine/analysis.ts";
import type { Comparison, Contender } from "./comparison.ts";
import type { Measure } from "./measures.ts";
import type { Outcome } from "./outcome.ts";

export interface Answer {
  /** The best variant, its lead, and what it costs. */
  headline: string;
  /** Further sentences: the other variants, other metrics, and flows that compete in one run. */
  sentences: string[];
}

/** Returns the conclusion from the finished runs; undefined if none has finished. */
export function answer(comparison: Comparison): Answer | undefined {
  return analysed<Answer | null>({ answer: comparisonInput(comparison) }) ?? undefined;
}

/** The difference between two variants, over their common seeds. */
export interface Gap {
  pairs: number;
  difference: number;
  /** Half width of the interval of the difference; null where there is none. */
  half_width: number | null;
}

/** A variant compared with another one. */
export interface Difference {
  name: string;
  mean: number;
  /** Null without a common seed. */
  gap: Gap | null;
  /** Whether the difference is significant, or exact because nothing is random. */
  is_clear: boolean;
  /** The difference in words, with its interval and the number of seeds that would probably tell. */
  words: string;
}

/** The variants compared with one of them. */
export interface Differences {
  base: string;
  /** Mean of the metric of this variant. */
  mean: number;
  rows: Difference[];
}

/**
 * Returns how the variants differ from one of them, by default from the best, with the intervals of the conclusion.
 * Undefined if that variant has no value.
 */
export function differences(comparison: Comparison, measure: Measure, base?: Contender): Differences | undefined {
  const from = base ? { base: base.name } : {};
  const request = { comparison: comparisonInput(comparison), measure: measure.column, ...from };
  return analysed<Differences[]>({ differences: request })[0];
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
