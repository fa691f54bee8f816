/** What there is to save beside the scenario. Views put here what they show. */

import { signal } from "@preact/signals";
import type { Figure, IntervalFigure } from "./figure.ts";
import type { ComparisonReport } from "./report/comparison.ts";

/** Figures of the view that is open, made when they are saved. */
export const figures = signal<(() => (Figure | IntervalFigure)[]) | undefined>(undefined);

/** The comparison as it stands. */
export const comparison = signal<(() => ComparisonReport) | undefined>(undefined);
