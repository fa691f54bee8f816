/**
 * The best of several rivals, and how far the others are behind, from runs that are paired by seed.
 *
 * Two rivals are compared by the ratio of their means, with the interval of Fieller (Journal of the Royal Statistical
 * Society B 16:175, 1954). The best is compared with each of the k - 1 others with the confidence 1 - 0.05 / (k - 1)
 * (Bonferroni), so that the chance of naming a wrong one is at most 5 %. As `lightlag.report.ranking`.
 */

import { studentT, variance } from "./student.ts";
import { exactSum, mean } from "./sums.ts";

export interface Rival {
  name: string;
  /** Its values of a measure by seed. */
  values: ReadonlyMap<number, number>;
  /** Whether all its runs are the same, because nothing in them is random. */
  isFixed: boolean;
}

/** The best beside another one, over the seeds that both have. */
export interface Gap {
  best: string;
  other: string;
  pairs: number;
  /** The mean of the best by that of the other; NaN where that is 0. */
  ratio: number;
  /** The ends of the interval of the ratio; NaN where there is none. */
  low: number;
  high: number;
  /** The mean of the best less that of the other. */
  difference: number;
  /** Of the interval of the difference; NaN below two pairs, and where all differences are the same. */
  halfWidth: number;
  isFixed: boolean;
}

export interface Ranking {
  /** The best first. */
  rivals: Rival[];
  /** The best beside each of the others, in their order. */
  gaps: Gap[];
  moreIsBetter: boolean;
}

export function meanOf(rival: Rival): number {
  return mean([...rival.values.values()]);
}

/** Whether the two differ beyond chance. */
export function isClear(gap: Gap): boolean {
  return gap.isFixed ? gap.difference !== 0 : Math.abs(gap.difference) > gap.halfWidth;
}

/** Seeds with which the interval would leave out 0, if means and spread stayed; undefined without an estimate. */
export function seedsNeeded({ isFixed, halfWidth, difference, pairs }: Gap): number | undefined {
  return isFixed || Number.isNaN(halfWidth) || difference === 0
    ? undefined
    : Math.ceil(pairs * (halfWidth / difference) ** 2);
}

/** The gaps to those that are worse beyond chance. */
export function behind({ gaps, moreIsBetter }: Ranking): Gap[] {
  // Over the seeds in common the other may be the better one.
  return gaps.filter((gap) => isClear(gap) && gap.difference > 0 === moreIsBetter);
}

/** The best, and those that cannot be told apart from it. */
export function level(ranking: Ranking): string[] {
  const worse = behind(ranking);
  const others = ranking.gaps.filter((gap) => !worse.includes(gap)).map(({ other }) => other);
  return [ranking.rivals[0]?.name ?? "", ...others];
}

/** Whether there are intervals, or nothing is random: one run alone says nothing about chance. */
export function isJudged({ gaps }: Ranking): boolean {
  return gaps.every(({ isFixed, halfWidth, pairs }) => isFixed || !Number.isNaN(halfWidth) || pairs > 1);
}

export function gapOf(best: Rival, other: Rival, confidence: number): Gap {
  const seeds = [...best.values.keys()].filter((seed) => other.values.has(seed)).sort((x, y) => x - y);
  const a = seeds.map((seed) => best.values.get(seed) ?? Number.NaN);
  const b = seeds.map((seed) => other.values.get(seed) ?? Number.NaN);
  const pairs = seeds.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const isFixed = best.isFixed && other.isFixed;
  let [low, high, halfWidth] = [Number.NaN, Number.NaN, Number.NaN];
  if (pairs > 1 && !isFixed) {
    const quantile = studentT(confidence, pairs - 1);
    const spread = variance(a.map((x, at) => x - (b[at] ?? 0))) / pairs;
    if (spread > 0) {
      halfWidth = quantile * Math.sqrt(spread);
      [low, high] = fieller(a, b, quantile);
    }
  }
  const ratio = meanB === 0 ? Number.NaN : meanA / meanB;
  return { best: best.name, other: other.name, pairs, ratio, low, high, difference: meanA - meanB, halfWidth, isFixed };
}

/** The interval of the ratio of two means; NaN where the mean below may be 0. */
function fieller(a: number[], b: number[], quantile: number): [number, number] {
  const count = a.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const part = quantile ** 2 / count;
  const shared = exactSum(a.map((x, at) => (x - meanA) * ((b[at] ?? 0) - meanB))) / (count - 1);
  const below = meanB ** 2 - part * variance(b);
  const middle = meanA * meanB - part * shared;
  const inside = middle ** 2 - below * (meanA ** 2 - part * variance(a));
  if (below <= 0 || inside < 0) {
    return [Number.NaN, Number.NaN];
  }
  return [(middle - Math.sqrt(inside)) / below, (middle + Math.sqrt(inside)) / below];
}

/** The confidence of each of several intervals, so that all hold together with 95 % (Bonferroni). */
export function confidenceOfEach(comparisons: number, all = 0.95): number {
  return 1 - (1 - all) / Math.max(comparisons, 1);
}

/** The ranking of rivals that have values, and seeds in common with the best; undefined where nobody has a value. */
export function ranked(rivals: readonly Rival[], moreIsBetter: boolean, confidence = 0.95): Ranking | undefined {
  const sign = moreIsBetter ? -1 : 1;
  const [best, ...rest] = rivals.filter(({ values }) => values.size > 0).sort((x, y) => sign * (meanOf(x) - meanOf(y)));
  if (!best) {
    return undefined;
  }
  const others = rest.filter(({ values }) => [...values.keys()].some((seed) => best.values.has(seed)));
  const each = confidenceOfEach(others.length, confidence);
  return { rivals: [best, ...others], gaps: others.map((other) => gapOf(best, other, each)), moreIsBetter };
}
