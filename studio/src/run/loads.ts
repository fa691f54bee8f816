/** The load of a page that the waterfall shows. */

import { signal } from "@preact/signals";
import type { PageLoad } from "../save/pages.ts";
import type { WaterfallFigure } from "../save/waterfall.ts";

/** The load on the screen; none before the end of a run, and in runs without pages. */
export const shownLoad = signal<PageLoad | undefined>(undefined);

/** Returns the waterfall on the screen in the form for files. */
export function savedLoad(): WaterfallFigure[] {
  const load = shownLoad.value;
  return load ? [figureOf(load)] : [];
}

export function figureOf(load: PageLoad): WaterfallFigure {
  return { title: `Waterfall of ${load.flow}, load ${load.page}`, load };
}

/** Returns the row that a key selects in a waterfall: undefined for none, null if the key has no effect. */
export function rowAfter(key: string, row: number | undefined, rows: number): number | undefined | null {
  switch (key) {
    case "ArrowDown":
      return Math.min((row ?? -1) + 1, rows - 1);
    case "ArrowUp":
      return Math.max((row ?? rows) - 1, 0);
    case "Home":
      return 0;
    case "End":
      return rows - 1;
    case "Escape":
      return row === undefined ? null : undefined;
    default:
      return null;
  }
}
