/** The table of results: what a filter leaves, in an order. */

import type { Entry } from "./api.ts";

export type Key = "name" | "scenario" | "kind" | "date" | "hash";

/** The entries of a kind ("" for all) in which every word of the filter stands, sorted by a column. */
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

/** Seeds as they are written: `1-5, 9`. A text says what is wrong with it. */
export function seedsOf(text: string): number[] | string {
  const seeds = new Set<number>();
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === undefined || to < from) {
      return `"${part}" is no seed; write 7, or 1-5`;
    }
    if (to - from + seeds.size >= MOST_SEEDS) {
      return `more than ${MOST_SEEDS} seeds; take fewer`;
    }
    for (let seed = from; seed <= to; seed++) {
      seeds.add(seed);
    }
  }
  return [...seeds];
}

/** The most seeds that the server takes. */
const MOST_SEEDS = 1000;
const order = new Intl.Collator("en", { numeric: true });
