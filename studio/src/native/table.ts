/** The table of results: filtered and sorted. */

import type { Entry } from "./api.ts";

export type Key = "name" | "scenario" | "kind" | "date" | "hash";

/** Returns the entries of a kind ("" for all) that contain all terms of the filter, sorted by a column. */
export function arranged(entries: readonly Entry[], words: string, kind: string, by: Key, isDown: boolean): Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const sign = isDown ? -1 : 1;
  return entries
    .filter((entry) => {
      const text =
        `${entry.place} ${entry.name} ${entry.scenario ?? ""} ${entry.date} ${entry.hash ?? ""}`.toLowerCase();
      return (kind === "" || entry.kind === kind) && wanted.every((word) => text.includes(word));
    })
    .sort((a, b) => sign * order.compare(a[by] ?? "", b[by] ?? "") || order.compare(a.place, b.place));
}

/** Parses seeds such as `1-5, 9`. Returns an error message if they are invalid. */
export function seedsOf(text: string): number[] | string {
  const seeds = new Set<number>();
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === undefined || to < from) {
      return `"${part}" is not a seed; write 7, or 1-5`;
    }
    if (to - from + seeds.size >= MOST_SEEDS) {
      return `more than ${MOST_SEEDS} seeds; use fewer`;
    }
    for (let seed = from; seed <= to; seed++) {
      seeds.add(seed);
    }
  }
  return [...seeds];
}

/** Maximum number of seeds that the server accepts. */
const MOST_SEEDS = 1000;
const order = new Intl.Collator("en", { numeric: true });
