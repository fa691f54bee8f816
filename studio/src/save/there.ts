/** Items that can be saved in addition to the scenario. Views register their content here. */

import { signal } from "@preact/signals";
import type { Figure, IntervalFigure } from "./figure.ts";
import type { ComparisonReport } from "./report/comparison.ts";
import type { WaterfallFigure } from "./waterfall.ts";

export type AnyFigure = Figure | IntervalFigure | WaterfallFigure;

/** Figures of the open view, made when they are saved. */
export const figures = signal<(() => AnyFigure[]) | undefined>(undefined);

/** The current comparison. */
export const comparison = signal<(() => ComparisonReport) | undefined>(undefined);
