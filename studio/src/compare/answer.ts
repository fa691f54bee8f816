/** The answer of a comparison in sentences, in the words of `lightlag.report.answer`. */

import { grouped } from "../app/numbers.ts";
import { listed } from "../save/report/charts.ts";
import type { Comparison, Contender } from "./comparison.ts";
import { amount, MEASURES, type Measure } from "./measures.ts";
import { UDP } from "./outcome.ts";
import {
  behind,
  confidenceOfEach,
  type Gap,
  gapOf,
  isClear,
  isJudged,
  level,
  meanOf,
  type Ranking,
  type Rival,
  seedsNeeded,
} from "./ranking.ts";
import { mean } from "./sums.ts";
import { by, byHowMuch, NAMED, some } from "./words.ts";

export interface Answer {
  headline: string;
  /** More about it: the others, other measures, rivals in one run. */
  sentences: string[];
}

/** The answer of the runs that have finished; undefined where none has. */
export function answer(comparison: Comparison): Answer | undefined {
  const [goodput, ...others] = comparison.measures;
  const ranking = comparison.ranking(MEASURES[0]);
  if (!goodput || !ranking) {
    return undefined;
  }
  const { headline, sentences } = ofOne(ranking, MEASURES[0]);
  const more = others.flatMap((measure) => {
    const known = comparison.contenders.filter((contender) => comparison.values(contender, measure).size > 0);
    const other = comparison.ranking(measure);
    return other && known.length > 1 ? [ofMeasure(other, measure)] : [];
  });
  return { headline, sentences: [...sentences, ...more, ...inOneRun(comparison)] };
}

/** The headline and more sentences about one ranking by goodput. */
function ofOne(ranking: Ranking, measure: Measure): Answer {
  const { gaps, rivals } = ranking;
  const best = rivals[0] as Rival;
  const mean = amount(measure, meanOf(best));
  const [first] = gaps;
  if (!first) {
    const runs = best.values.size;
    const each = best.isFixed ? "in each of its runs" : `as the mean of ${runs} runs`;
    return {
      headline: `${best.name} reaches a goodput of ${mean} ${runs === 1 ? "in its one run" : each}.`,
      sentences: [],
    };
  }
  if (gaps.every(({ difference }) => difference === 0)) {
    return { headline: `${listed(rivals.map(({ name }) => name))} reach the same goodput, ${mean}.`, sentences: [] };
  }
  if (!isJudged(ranking)) {
    return {
      headline: `${best.name} reaches ${mean}, ${byHowMuch(first)}, in one run of each.`,
      sentences: ["One run of each says nothing about chance."],
    };
  }
  const fixed = gaps.every(({ isFixed }) => isFixed) ? ["Nothing is random there: each seed gives the same."] : [];
  const worse = behind(ranking);
  const [nearest, ...rest] = worse;
  if (level(ranking).length > 1 || !nearest) {
    return { headline: ofLevel(ranking, mean), sentences: [...thoseBehind(best, worse), ...seeds(ranking), ...fixed] };
  }
  if (rest.length === 0) {
    const means = `${mean} against ${amount(measure, meanOf(rivals[1] as Rival))}`;
    return { headline: `${best.name} beats ${nearest.other}${by(nearest)}: a goodput of ${means}.`, sentences: fixed };
  }
  return {
    headline: `${best.name} has the highest goodput, ${mean}: ${byHowMuch(nearest)}, which comes next.`,
    sentences: [...thoseBehind(best, rest), ...fixed],
  };
}

/** The headline where several may be the best. */
function ofLevel(ranking: Ranking, mean: string): string {
  const [best, ...others] = level(ranking);
  const nearest = ranking.gaps.find(({ other }) => other === others[0]);
  if (others.length === 1 && nearest) {
    return `${best} and ${others[0]} cannot be told apart by goodput: ${best} has ${byHowMuch(nearest)}.`;
  }
  return `${best} has the highest mean goodput, ${mean}, but ${some(others)} cannot be told apart from it.`;
}

/** Seeds beyond which an estimate is left out: the difference is too small to matter. */
const MOST_SEEDS = 1000;

/** An estimate of the seeds that would tell the best from those that are level with it. */
function seeds(ranking: Ranking): string[] {
  const [best, ...others] = level(ranking);
  const needed = ranking.gaps
    .filter(({ other }) => others.includes(other))
    .flatMap((gap) => {
      const count = seedsNeeded(gap);
      return count === undefined || count > MOST_SEEDS ? [] : [{ count, other: gap.other }];
    })
    .sort((a, b) => a.count - b.count || (a.other < b.other ? -1 : 1));
  const parts = needed.map(({ count, other }) => `${grouped(count)} for ${other}`).slice(0, NAMED);
  return parts.length > 0
    ? [`Seeds that would tell ${best} apart, as the runs spread so far: about ${listed(parts)}.`]
    : [];
}

function thoseBehind(best: Rival, worse: Gap[]): string[] {
  if (worse.length === 0) {
    return [];
  }
  const rest = worse.length - NAMED;
  const more = rest > 0 ? `; ${rest} more ${rest === 1 ? "is" : "are"} behind, too` : "";
  const parts = worse.slice(0, NAMED).map((gap) => byHowMuch(gap));
  return [`${best.name} has ${listed(parts)}${more}.`];
}

/** A sentence about another measure. */
function ofMeasure(ranking: Ranking, measure: Measure): string {
  const { gaps, rivals } = ranking;
  const best = rivals[0] as Rival;
  const mean = amount(measure, meanOf(best));
  const { title } = measure;
  if (gaps.every(({ difference }) => difference === 0)) {
    return `${title}: ${mean} with each.`;
  }
  if (!isJudged(ranking)) {
    return `${title}: ${best.name} is best with ${mean}.`;
  }
  const worse = behind(ranking);
  const [, ...equals] = level(ranking);
  const [nearest] = worse;
  if (equals.length > 0 || !nearest) {
    const names = worse.map(({ other }) => other);
    const others = names.length > 0 ? `; ${some(names)} ${names.length === 1 ? "is" : "are"} worse` : "";
    return `${title}: ${best.name} has the best mean, ${mean}; ${some(equals)} cannot be told apart from it${others}.`;
  }
  if (!(nearest.ratio > 0)) {
    const next = amount(measure, meanOf(rivals[1] as Rival));
    return `${title}: ${best.name} is best with ${mean}, against ${next} with ${nearest.other}.`;
  }
  return `${title}: ${best.name} is best with ${mean}, ${byHowMuch(nearest)}.`;
}

/** How algorithms that compete in one run share. */
function inOneRun(comparison: Comparison): string[] {
  const pairs = comparison.contenders.flatMap((contender) => {
    const rivals = shares(contender, comparison.isFixed(contender)).sort((a, b) => meanOf(b) - meanOf(a));
    const [strong, weak] = rivals;
    return rivals.length === 2 && strong && weak ? [{ contender, strong, weak }] : [];
  });
  const found = pairs.flatMap(({ contender, strong, weak }) => {
    const gap = gapOf(strong, weak, confidenceOfEach(pairs.length));
    if (isClear(gap)) {
      const more = byHowMuch(gap, `one of ${weak.name}`, " goodput");
      return [`In ${contender.name} a flow of ${strong.name} gets ${more}.`];
    }
    return gap.pairs > 1
      ? [`In ${contender.name} the shares of ${strong.name} and ${weak.name} cannot be told apart.`]
      : [];
  });
  const rest = found.length - NAMED;
  return [...found.slice(0, NAMED), ...(rest > 0 ? [`The table of competing algorithms has ${rest} more.`] : [])];
}

/** The mean goodput of a flow of each algorithm, by seed. */
function shares({ outcomes }: Contender, isFixed: boolean): Rival[] {
  const found = new Map<string, Map<number, number>>();
  for (const { seed, flows } of outcomes) {
    const algorithms = new Set(flows.map(({ congestion }) => congestion).filter((name) => name !== UDP));
    for (const algorithm of algorithms) {
      const own = flows.filter(({ congestion }) => congestion === algorithm);
      const values = found.get(algorithm) ?? new Map<number, number>();
      found.set(algorithm, values.set(seed, mean(own.map(({ goodputBps }) => goodputBps))));
    }
  }
  return [...found].map(([name, values]) => ({ name, values, isFixed }));
}
