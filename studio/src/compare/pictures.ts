/** The figures of a comparison beside those of its measures: over time with one seed, and over the flows of all runs. */

import type { Figure, FigureLine, IntervalFigure } from "../save/figure.ts";
import { type Line, type LinePanel, listed, unitOf, usualTop } from "../save/report/charts.ts";
import { byRoundTrip, completion, goodput, runOf, sharesOf, windows } from "./charts.ts";
import { Comparison } from "./comparison.ts";
import { MEASURES, show } from "./measures.ts";

/** How many times lower than the highest a line may be that is drawn beside it. */
const FLAT = 8;

export interface Picture {
  figure: Figure | IntervalFigure;
  /** The same in a sentence with numbers. */
  says: string;
}

/** All pictures that a comparison has; those over time show the runs with this seed. */
export function pictures(comparison: Comparison, seed: number): Picture[] {
  const alone = comparison.contenders.map((contender) => {
    const run = runOf(contender, seed);
    return { ...contender, outcomes: run ? [run] : [] };
  });
  return [
    ...goodput(new Comparison(alone)).map((panel) => ofPanel(panel, `Goodput, seed ${seed}`, unitIn(panel))),
    ...cwnd(comparison, seed),
    ...completion(comparison).map((panel) => ofPanel(panel, "Finished flows", "share")),
    ...byRoundTrip(comparison).map((panel) => ofPanel(panel, "Goodput of a flow", unitIn(panel))),
    ...shares(comparison),
  ];
}

/** One picture where each variant has one flow and their windows are of one size; otherwise one for each variant. */
function cwnd(comparison: Comparison, seed: number): Picture[] {
  const panels = windows(comparison, seed);
  if (panels.some(({ series }) => series.length > 1) || areFarApart(panels)) {
    return panels.map((panel) => ofPanel({ ...panel, series: apart(panel.series) }, `cwnd of ${panel.title}`, ""));
  }
  const names = comparison.contenders.map(({ name }) => name);
  const series = panels.flatMap(({ series: [line] }, at) => (line ? [{ ...line, name: names[at] ?? "", at }] : []));
  const [first] = panels;
  if (!first || series.length === 0) {
    return [];
  }
  const top = usualTop(series);
  const says = panels.map(({ says }) => says).join(" ");
  const y = { min: 0, ...(top === undefined ? {} : { max: top }) };
  return [ofPanel({ ...first, y, says, series }, `cwnd, seed ${seed}`, "segments")];
}

/** Flows beside each other have colours of their own; one alone has that of its variant. */
function apart(series: Line[]): Line[] {
  return series.length > 1 ? series.map((line, at) => ({ ...line, at })) : series;
}

/** Whether some lines would lie flat on the axis beside others. */
function areFarApart(panels: readonly LinePanel[]): boolean {
  const tops = panels.flatMap(({ series, y }) => y.max ?? Math.max(0, ...series.flatMap((line) => line.y.map(Number))));
  const there = tops.filter((top) => top > 0);
  return Math.max(...there) > FLAT * Math.min(...there);
}

function shares(comparison: Comparison): Picture[] {
  const found = sharesOf(comparison).map((share) => ({ ...share, name: `${share.algorithm} in ${share.variant}` }));
  if (found.length === 0) {
    return [];
  }
  const [factor, unit] = unitOf(Math.max(...found.map(({ interval }) => interval.mean)), "bit/s");
  const rows = found.map(({ name, interval: { mean, halfWidth } }) => {
    return { name, mean: mean / factor, halfWidth: halfWidth / factor, values: [] };
  });
  const title = "Goodput of a flow where algorithms compete";
  const said = found.map(({ name, interval }) => `${name} ${show(MEASURES[0], interval)}`);
  return [{ figure: { title, unit, rows }, says: `${title}: ${listed(said)}.` }];
}

/** The unit that stands in parentheses in the title of a panel. */
function unitIn({ title }: LinePanel): string {
  return /\(([^)]*)\)$/.exec(title)?.[1] ?? "";
}

function ofPanel({ x, y, series, limits, says }: LinePanel, title: string, unit: string): Picture {
  const [first = 0, last = 1] = [x.min ?? 0, x.max];
  const bounds = limits.map((limit): FigureLine => {
    return { name: limit.name, x: [first, last], y: [limit.y, limit.y], at: series.length };
  });
  const lines = [...series.map(lineOf), ...bounds];
  const figure: Figure = { title, unit, xTitle: x.label ?? "", lines, ends: { from: x.min, to: x.max } };
  return { figure: y.max === undefined ? figure : { ...figure, top: y.max }, says };
}

function lineOf({ name, at, x, y, step, dots }: Line): FigureLine {
  const looks = step ? "step" : dots ? "dots" : "line";
  return { name, at, x, y: y.map((value) => value ?? Number.NaN), looks };
}
