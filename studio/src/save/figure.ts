/** Figures as data, and as self-contained SVG: text stays text, and colours come with dash patterns. */

import { DASHES } from "../app/theme.ts";
import { type Attributes, element, type Ink, inkOf, LETTER, named, page, text } from "./svg.ts";

export interface FigureLine {
  name: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  /** Index of its colour and dash pattern; by default its position. */
  at?: number;
  /**
   * Line style: each value holds until the next (step), dots without a line (dots), or straight lines between values.
   */
  looks?: "step" | "dots" | "line";
  /** Width of the line in pixels; by default 1.6. */
  width?: number;
}

export interface Figure {
  title: string;
  /** Unit of y. */
  unit: string;
  xTitle: string;
  lines: FigureLine[];
  /** Ends of the x axis, if they are not the ends of the lines. */
  ends?: { from?: number | undefined; to?: number | undefined };
  /** Upper bound of the plotted values, so that a peak does not flatten the rest. */
  top?: number;
  /** Start of the axis of values, if not 0. */
  bottom?: number;
}

/** Means with their intervals and the single values, one row each. */
export interface IntervalFigure {
  title: string;
  unit: string;
  rows: { name: string; mean: number; halfWidth: number; values: number[] }[];
}

export interface Looks {
  width?: number;
  height?: number;
  isDark?: boolean;
  /** Whether a legend is above the lines. The default is true for two or more lines. */
  hasLegend?: boolean;
}

const SPACE = { top: 30, right: 14, bottom: 42, left: 58 };
const LEGEND = 18;
/** Maximum fraction of the figure's width that names of rows take. */
const NAMES = 0.35;
/** Minimum step of an axis: smaller powers of ten are inexact, or 0. */
const SMALLEST = 1e-300;

/** Returns about `steps` round values, at 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, steps: number): number[] {
  const raw = (high - low) / steps;
  if (!(raw > SMALLEST)) {
    return [low];
  }
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw * (1 - 1e-9)) ?? raw;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Returns round numbers around two values, separated by about `steps` steps. */
export function roundEnds(low: number, high: number, steps: number): [low: number, high: number] {
  const [first = 0, second = first + 1] = ticks(0, high > low ? high - low : 1, steps);
  const step = second - first;
  const from = Math.floor(low / step + 1e-9) * step;
  return [from, Math.max(from + step, Math.ceil(high / step - 1e-9) * step)];
}

export function shown(value: number): string {
  return Math.abs(value) >= 1000 ? value.toLocaleString("en") : String(Number(value.toPrecision(6)));
}

function dashOf(at: number): Attributes {
  const dash = DASHES[at % DASHES.length]?.join(" ");
  return dash ? { "stroke-dasharray": dash } : {};
}

/** Returns the minimum and maximum finite value of all lists. */
function range(lists: ArrayLike<number>[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (let at = 0; at < list.length; at++) {
      const value = list[at] ?? Number.NaN;
      if (Number.isFinite(value)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Returns the ends of the x axis of a figure, in pixels. */
export function axisOf(width: number): { left: number; right: number } {
  return { left: SPACE.left, right: width - SPACE.right };
}

/** Renders a figure as SVG. */
export function drawn(figure: Figure, looks: Looks = {}): string {
  const { width = 720, height = 380, isDark = false, hasLegend = figure.lines.length > 1 } = looks;
  const ink = inkOf(isDark);
  const legend = hasLegend ? legendOf(figure.lines, width, ink) : { parts: [], rows: 0 };
  const box = {
    ...axisOf(width),
    top: SPACE.top + legend.rows * LEGEND,
    bottom: height - SPACE.bottom,
  };
  const [first, last] = range(figure.lines.map(({ x }) => x));
  const { from: left = first, to: right = last } = figure.ends ?? {};
  const [least, greatest] = range(figure.lines.map(({ y }) => y));
  const low = figure.bottom ?? Math.min(0, least);
  const top = Math.max(0, greatest);
  const high = figure.top ?? (top > low ? low + 1.05 * (top - low) : low + 1);
  const px = (x: number) => box.left + ((x - left) / (right - left || 1)) * (box.right - box.left);
  const py = (y: number) => box.bottom - ((y - low) / (high - low)) * (box.bottom - box.top);
  const parts = [
    text(8, 18, `${figure.title}${figure.unit ? ` (${figure.unit})` : ""}`, ink.ink, {
      "font-weight": 600,
      "font-size": 13,
    }),
    ...legend.parts,
    ...ticks(low, high, Math.max(2, Math.round((box.bottom - box.top) / 45))).flatMap((tick) => [
      element("line", { x1: box.left, x2: box.right, y1: py(tick), y2: py(tick), stroke: ink.grid }),
      text(box.left - 6, py(tick) + 4, shown(tick), ink.quiet, { "text-anchor": "end" }),
    ]),
    ...ticks(left, right, Math.max(2, Math.round((box.right - box.left) / 90))).flatMap((tick) => [
      element("line", { x1: px(tick), x2: px(tick), y1: box.bottom, y2: box.bottom + 4, stroke: ink.quiet }),
      text(px(tick), box.bottom + 17, shown(tick), ink.quiet, { "text-anchor": "middle" }),
    ]),
    element("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, stroke: ink.quiet }),
    text((box.left + box.right) / 2, height - 8, figure.xTitle, ink.quiet, { "text-anchor": "middle" }),
    clipped(
      box,
      figure.lines.map((line, at) => drawnLine(line, line.at ?? at, px, py, ink)),
    ),
  ];
  return page(width, height, ink, figure.title, parts);
}

/** Renders the inside of the axes: an SVG within another clips its content. */
function clipped(
  { left, right, top, bottom }: Record<"left" | "right" | "top" | "bottom", number>,
  parts: string[],
): string {
  // Half of a line's width, so that a line along an axis is not cut.
  const [x, y, width, height] = [left - 3, top - 3, right - left + 6, bottom - top + 6];
  return element("svg", { x, y, width, height, viewBox: `${x} ${y} ${width} ${height}` }, parts.join(""));
}

type Place = (value: number) => number;

function drawnLine(
  { x, y, looks = "line", width = 1.6 }: FigureLine,
  at: number,
  px: Place,
  py: Place,
  { colours }: Ink,
): string {
  const colour = colours[at % colours.length] ?? "#000000";
  if (looks === "dots") {
    const dots: string[] = [];
    for (let row = 0; row < x.length; row++) {
      if (Number.isFinite(y[row])) {
        dots.push(element("circle", { cx: px(x[row] ?? 0), cy: py(y[row] ?? 0), r: 2.5, fill: colour }));
      }
    }
    return element("g", {}, dots.join(""));
  }
  const d = pathOf(thinned(x, y, px), looks === "step", px, py);
  return d ? element("path", { d, fill: "none", stroke: colour, "stroke-width": width, ...dashOf(at) }) : "";
}

/** Returns the rows that a line shows: the first, minimum, maximum and last of each pixel; all if there are few. */
export function thinned(x: ArrayLike<number>, y: ArrayLike<number>, px: Place): [number, number][] {
  const kept: [number, number][] = [];
  let bucket = Number.NaN;
  let rows: number[] = [];
  const flush = () => {
    const known = rows.filter((row) => Number.isFinite(y[row]));
    const by = (a: number, b: number) => (y[a] ?? 0) - (y[b] ?? 0);
    const [least, most] = [known.toSorted(by)[0], known.toSorted(by).at(-1)];
    const chosen = new Set([rows[0], least, most, rows.at(-1)].filter((row) => row !== undefined));
    for (const row of [...chosen].sort((a, b) => a - b)) {
      kept.push([x[row] ?? Number.NaN, y[row] ?? Number.NaN]);
    }
    rows = [];
  };
  for (let row = 0; row < x.length; row++) {
    const here = Math.floor(px(x[row] ?? 0));
    if (here !== bucket) {
      flush();
      bucket = here;
    }
    rows.push(row);
  }
  flush();
  return kept;
}

function pathOf(points: [number, number][], isStep: boolean, px: Place, py: Place): string {
  const parts: string[] = [];
  let isOpen = false;
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) {
      isOpen = false;
      continue;
    }
    const [left, top] = [px(x).toFixed(1), py(y).toFixed(1)];
    parts.push(isOpen ? (isStep ? `H${left}V${top}` : `L${left},${top}`) : `M${left},${top}`);
    isOpen = true;
  }
  return parts.join("");
}

function legendOf(lines: FigureLine[], width: number, { colours, ink }: Ink): { parts: string[]; rows: number } {
  const parts: string[] = [];
  let [x, row] = [SPACE.left, 0];
  for (const [place, { name, looks, at = place }] of lines.entries()) {
    const room = Math.min(LETTER * name.length, width - SPACE.left - SPACE.right - 48);
    const wide = 34 + room + 14;
    if (x > SPACE.left && x + wide > width - SPACE.right) {
      [x, row] = [SPACE.left, row + 1];
    }
    const y = SPACE.top + row * LEGEND + 2;
    const colour = colours[at % colours.length] ?? "#000000";
    parts.push(
      looks === "dots"
        ? element("circle", { cx: x + 12, cy: y, r: 2.5, fill: colour })
        : element("line", { x1: x, x2: x + 26, y1: y, y2: y, stroke: colour, "stroke-width": 2, ...dashOf(at) }),
      named(x + 32, y + 4, name, room, ink),
    );
    x += wide;
  }
  return { parts, rows: row + 1 };
}

/** Renders means with their intervals as SVG. */
export function drawnIntervals(
  { title, unit, rows }: IntervalFigure,
  { width = 640, isDark = false }: Looks = {},
): string {
  const ink = inkOf(isDark);
  const room = Math.min(LETTER * Math.max(4, ...rows.map(({ name }) => name.length)), width * NAMES);
  const left = 24 + room;
  const bottom = SPACE.top + 12 + rows.length * 30;
  const ends = rows.flatMap(({ mean, halfWidth, values }) => [mean + (halfWidth || 0), ...values]);
  const high = 1.04 * range([ends])[1] || 1;
  const px = (value: number) => left + (Math.max(value, 0) / high) * (width - left - SPACE.right);
  const parts = [
    text(8, 18, `${title}${unit ? ` (${unit})` : ""}`, ink.ink, { "font-weight": 600, "font-size": 13 }),
    ...ticks(0, high, 6).flatMap((tick) => [
      element("line", { x1: px(tick), x2: px(tick), y1: SPACE.top, y2: bottom, stroke: ink.grid }),
      text(px(tick), bottom + 17, shown(tick), ink.quiet, { "text-anchor": "middle" }),
    ]),
    element("line", { x1: left, x2: width - SPACE.right, y1: bottom, y2: bottom, stroke: ink.quiet }),
    ...rows.flatMap(({ name, mean, halfWidth, values }, at) => {
      const y = SPACE.top + 22 + at * 30;
      const colour = ink.colours[at % ink.colours.length] ?? "#000000";
      const each = values.map((value) =>
        element("circle", { cx: px(value), cy: y + 9, r: 2.2, fill: ink.paper, stroke: colour }),
      );
      const interval = `M${px(mean - halfWidth).toFixed(1)},${y - 5}v10m0,-5H${px(mean + halfWidth).toFixed(1)}m0,-5v10`;
      return [
        named(left - 10, y + 4, name, room, ink.ink, { "text-anchor": "end" }),
        ...(values.length > 1 ? each : []),
        Number.isFinite(halfWidth)
          ? element("path", { d: interval, fill: "none", stroke: colour, "stroke-width": 2 })
          : "",
        Number.isFinite(mean) ? element("circle", { cx: px(mean), cy: y, r: 4.5, fill: colour }) : "",
      ];
    }),
  ];
  return page(width, bottom + 28, ink, title, parts);
}
