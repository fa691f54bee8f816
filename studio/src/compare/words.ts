/** Gaps and lists in words. */

import { fixed, number } from "../app/numbers.ts";
import { listed } from "../save/report/charts.ts";
import type { Gap } from "./ranking.ts";

/** A ratio from here on is a factor, not a share in percent. */
const TIMES = 2;
/** Rivals that a sentence names. */
export const NAMED = 6;

/** A gap: `6 % more than cubic (95 %: 2 to 10 %)`, `2.3 times as much as cubic (95 %: 2.1 to 2.6)`. */
export function byHowMuch(gap: Gap, than = gap.other, what = ""): string {
  const word = `${gap.difference > 0 ? "more" : "less"}${what} than ${than}`;
  if (gap.difference === 0) {
    return `as much${what} as ${than}`;
  }
  if (!(gap.ratio > 0)) {
    return word;
  }
  return gap.ratio >= TIMES ? times(gap, ` times as much${what} as ${than}`) : share(gap, ` ${word}`);
}

/** A gap behind a verb: ` by 6 % (95 %: 2 to 10 %)`, ` by a factor of 2.3 (95 %: 2.1 to 2.6)`. */
export function by(gap: Gap): string {
  if (!(gap.ratio > 0)) {
    return "";
  }
  return gap.ratio >= TIMES ? ` by a factor of ${times(gap, "")}` : ` by ${share(gap, "")}`;
}

function times({ ratio, low, high }: Gap, word: string): string {
  const ends = Number.isNaN(low) ? "" : ` (95 %: ${number(low, 2)} to ${number(high, 2)})`;
  return `${number(ratio, 2)}${word}${ends}`;
}

function share({ difference, ratio, low, high }: Gap, word: string): string {
  const sign = difference > 0 ? 1 : -1;
  const ends = Number.isNaN(low) ? [] : [sign * (low - 1), sign * (high - 1)].sort((a, b) => a - b);
  const [first, ...rest] = percent([sign * (ratio - 1), ...ends]);
  return `${first} %${word}${rest.length > 0 ? ` (95 %: ${rest[0]} to ${rest[1]} %)` : ""}`;
}

/** Shares in percent: two digits of half the way between the last two, and no end that is rounded to 0. */
export function percent(shares: readonly number[]): string[] {
  const values = shares.map((value) => 100 * value);
  const [before, last] = [values.at(-2), values.at(-1) ?? 0];
  const width = before === undefined ? Math.abs(last) : (last - before) / 2;
  const scale = width > 0 ? Math.floor(Math.log10(width)) : 0;
  let digits = Math.min(Math.max(0, width >= 1 ? -scale : 1 - scale), 2);
  while (digits < 4 && values.some((value) => value !== 0 && Number(fixed(value, digits)) === 0)) {
    digits++;
  }
  return values.map((value) => fixed(value, digits).replace("-", "−"));
}

export function some(names: readonly string[]): string {
  return names.length <= NAMED ? listed(names) : `${names.length} others, ${listed(names.slice(0, 3))} among them,`;
}
