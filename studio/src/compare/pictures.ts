/** Figures of a comparison other than its metrics: over time with one seed, and over the flows of all runs. */

import { analysed } from "../engine/analysis.ts";
import type { Figure, FigureLine, IntervalFigure } from "../save/figure.ts";
import { type Line, type LinePanel, listed, placesOf, unitOf } from "../save/report/charts.ts";
import { charts, sharesOf } from "./charts.ts";
import type { Comparison } from "./comparison.ts";
import { goodputMeasure, show } from "./measures.ts";

/** Maximum ratio between the peaks of lines that share a figure. */
const FLAT = 8;

export interface Picture {
  figure: Figure | IntervalFigure;
  /** A sentence that describes the figure, with numbers. */
  says: string;
}

/** Returns all figures of a comparison; figures over time show the runs with this seed. */
export function pictures(comparison: Comparison, seed: number): Picture[] {
  const found = charts(comparison, seed, true);
  const panels = (name: string) =>
    (found.find((chart) => chart.name === name)?.panels ?? []).filter((panel) => panel.kind === "line");
  return [
    ...panels("goodput").map((panel) => {
      // A variant without a run of this seed has no line.
      const series = panel.series.filter(({ y }) => y.length > 0);
      return ofPanel({ ...panel, series }, `Goodput, seed ${seed}`, unitIn(panel));
    }),
    ...cwnd(comparison, panels("cwnd"), seed),
    ...panels("completion").map((panel) => ofPanel(panel, "Finished flows", "share")),
    ...panels("rtt").map((panel) => ofPanel(panel, "Goodput of a flow", unitIn(panel))),
    ...shares(comparison),
  ];
}

/** Returns one figure if each variant has one flow and their windows are similar; otherwise one per variant. */
function cwnd(comparison: Comparison, panels: readonly LinePanel[], seed: number): Picture[] {
  if (panels.some(({ series }) => series.length > 1) || areFarApart(panels)) {
    return panels.map((panel) => ofPanel({ ...panel, series: apart(panel.series) }, `cwnd of ${panel.title}`, ""));
  }
  const names = comparison.contenders.map(({ name }) => name);
  const series = panels.flatMap(({ series: [line] }, at) => (line ? [{ ...line, name: names[at] ?? "", at }] : []));
  const [first] = panels;
  if (!first || series.length === 0) {
    return [];
  }
  const top = analysed<number | null>({ usual_top: series.map((line) => [placesOf(line), line.y]) });
  const says = panels.map(({ says }) => says).join(" ");
  const y = { min: 0, ...(top === null ? {} : { max: top }) };
  return [ofPanel({ ...first, y, says, series }, `cwnd, seed ${seed}`, "segments")];
}

/** Gives several flows colours of their own; a single flow has the colour of its variant. */
function apart(series: Line[]): Line[] {
  return series.length > 1 ? series.map((line, at) => ({ ...line, at })) : series;
}

/** Returns true if some lines would be flat on the axis because of others. */
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
  const said = found.map(({ name, interval }) => `${name} ${show(goodputMeasure(), interval)}`);
  return [{ figure: { title, unit, rows }, says: `${title}: ${listed(said)}.` }];
}

/** Returns the unit from the title of a panel, where it is in parentheses. */
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

function lineOf(line: Line): FigureLine {
  const { name, at, y, step, dots } = line;
  const looks = step ? "step" : dots ? "dots" : "line";
  return { name, at, x: placesOf(line), y: y.map((value) => value ?? Number.NaN), looks };
}
