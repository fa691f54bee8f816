/** The charts of a report, as data for the script that draws them: charts of a run come from the engine. */

export interface Axis {
  label?: string;
  unit?: string;
  min?: number;
  max?: number;
}

export interface Steps {
  from: number;
  by: number;
}

export interface Line {
  name: string;
  /** Index of its colour and dash pattern. */
  at: number;
  /** Ascending values, or equal steps. */
  x: number[] | Steps;
  y: (number | null)[];
  /** Lower and upper ends of intervals around the line, drawn as a band or as `bars`. */
  lo?: (number | null)[];
  hi?: (number | null)[];
  step?: 1;
  solid?: 1;
  stem?: 1;
  thin?: 1;
  dots?: 1;
  bars?: 1;
  /** Set to 0 to draw dots without a line. */
  line?: 0;
}

export interface Bar {
  name: string;
  at: number;
  mean: number;
  lo?: number;
  hi?: number;
  values: number[];
}

export interface StateRow {
  name: string;
  parts: [from: number, to: number, state: string][];
}

/** A panel, with its description in a sentence. */
interface Shown {
  says: string;
  title: string;
  x: Axis;
}

export interface LinePanel extends Shown {
  kind: "line";
  y: Axis;
  series: Line[];
  limits: { name: string; y: number }[];
  empty: string;
  height: number;
}

export type Panel =
  | LinePanel
  | (Shown & { kind: "bars"; rows: Bar[] })
  | (Shown & { kind: "states"; rows: StateRow[]; states: string[] });

export interface Chart {
  name: string;
  title: string;
  caption: string;
  panels: Panel[];
  /** Charts of one group zoom together. */
  group: string;
  /** Minimum width of a panel in rem. */
  panel_width: number;
}

export function json({ group, panels }: Chart): unknown {
  return { group, panels: panels.map(({ says: _, ...panel }) => panel) };
}

/** Returns the positions of the points of a line. */
export function placesOf({ x, y }: Pick<Line, "x" | "y">): number[] {
  return Array.isArray(x) ? x : y.map((_, at) => x.from + at * x.by);
}

/** Returns a divisor and the unit with its prefix. */
export function unitOf(largest: number, unit: string): [number, string] {
  if (unit === "%") {
    return [0.01, unit];
  }
  if (unit === "ms") {
    return [1e-3, unit];
  }
  if (unit !== "bit/s") {
    return [1, unit];
  }
  let [factor, at] = [1, 0];
  while (Math.abs(largest) / factor >= 999.95 && at < 4) {
    factor *= 1000;
    at++;
  }
  return [factor, `${" kMGT"[at]?.trim()}${unit}`];
}

/** Joins parts with commas, and with a conjunction before the last. */
export function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${last}` : last;
}
