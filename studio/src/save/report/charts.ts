/** The charts of a report, as data for the script that draws them: what `lightlag.report.charts` describes. */

export interface Axis {
  label?: string;
  unit?: string;
  min?: number;
  max?: number;
}

export interface Line {
  name: string;
  /** Number of its colour and dash pattern. */
  at: number;
  x: number[];
  y: (number | null)[];
  /** Ends of intervals around it: a band, or `bars`. */
  lo?: (number | null)[];
  hi?: (number | null)[];
  step?: 1;
  solid?: 1;
  stem?: 1;
  thin?: 1;
  dots?: 1;
  bars?: 1;
  /** Dots without a line. */
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

/** A panel, and what it shows in a sentence. */
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
  /** The least width of a panel in rem. */
  panelWidth: number;
}

export function json({ group, panels }: Chart): unknown {
  return { group, panels: panels.map(({ says: _, ...panel }) => panel) };
}

/** A number with as many digits as a chart shows; a missing one is null. */
export function rounded(value: number, digits = 4): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(digits)) : null;
}

/** A divisor and the unit with its prefix. */
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

/**
 * The rows that a curve with fewer points keeps: of each of points / 4 equal times the first, last, least and greatest.
 */
export function thinnedRows(times: ArrayLike<number>, values: ArrayLike<number>, points: number): number[] {
  const count = times.length;
  if (count <= points) {
    return Array.from({ length: count }, (_, row) => row);
  }
  const slices = Math.floor(points / 4);
  const first = times[0] ?? 0;
  const span = (times[count - 1] ?? 0) - first;
  const endOf = (slice: number) => first + ((slice + 1) * span) / slices;
  const kept = new Set<number>();
  let [from, slice] = [0, 0];
  for (let row = 0; row < count; row++) {
    if (slice + 1 < slices && (times[row] ?? 0) >= endOf(slice)) {
      keep(kept, values, from, row - 1);
      from = row;
      while (slice + 1 < slices && (times[row] ?? 0) >= endOf(slice)) {
        slice++;
      }
    }
  }
  keep(kept, values, from, count - 1);
  return [...kept].sort((a, b) => a - b);
}

function keep(kept: Set<number>, values: ArrayLike<number>, from: number, to: number): void {
  let [least, most] = [from, from];
  for (let row = from; row <= to; row++) {
    const value = values[row] ?? Number.NaN;
    if (value < (values[least] ?? Number.NaN) || Number.isNaN(values[least])) {
      least = row;
    }
    if (value > (values[most] ?? Number.NaN) || Number.isNaN(values[most])) {
      most = row;
    }
  }
  for (const row of [from, least, most, to]) {
    if (row >= from && row <= to) {
      kept.add(row);
    }
  }
}

/** Where to cut off a peak that would flatten the rest: more than 4 times what holds for 90 % of the time. */
export function usualTop(curves: { x: ArrayLike<number>; y: ArrayLike<number | null> }[]): number | undefined {
  let [usual, peak] = [0, 0];
  for (const { x, y } of curves) {
    const steps: [number, number][] = [];
    for (let at = 0; at + 1 < x.length; at++) {
      const value = y[at];
      if (value != null && Number.isFinite(value)) {
        steps.push([value, (x[at + 1] ?? 0) - (x[at] ?? 0)]);
        peak = Math.max(peak, value);
      }
    }
    let left = 0.9 * steps.reduce((sum, [, time]) => sum + time, 0);
    for (const [value, time] of steps.sort((a, b) => a[0] - b[0])) {
      left -= time;
      if (left <= 0) {
        usual = Math.max(usual, value);
        break;
      }
    }
  }
  return peak > 4 * usual && usual > 0 ? 1.6 * usual : undefined;
}

/** Parts with commas between them, and a word before the last. */
export function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${last}` : last;
}
