/** The waterfall of a page as SVG: a bar for each object, and the fraction of the bytes that had arrived. */

import { fitting } from "../app/fitting.ts";
import { general, grouped, size } from "../app/numbers.ts";
import { type Looks, shown, ticks } from "./figure.ts";
import { arrivedOf, connectionsOf, endOf, type LoadedObject, type PageLoad } from "./pages.ts";
import type { Sheet, SheetColumn } from "./sheet.ts";
import { element, escaped, type Ink, inkOf, LETTER, page, text } from "./svg.ts";

/** A load of a page as a figure. */
export interface WaterfallFigure {
  title: string;
  load: PageLoad;
}

/** Maximum number of objects of the chart; a page with more shows the first ones. */
export const MAX_ROWS = 200;
/** Height of a row, of the curve, and of the space below it, in pixels. */
export const ROW = 16;
const CURVE = 70;
const BELOW = 40;
/** Height of the title with its facts, and of the legend. */
const TITLE = 44;
const LEGEND = 22;
/** Minimum and maximum width of the names in pixels, and their maximum fraction of the figure's width. */
const MIN_NAMES = 96;
const MAX_NAMES = 190;
const MAX_PART = 0.3;
const RIGHT = 16;
/** Pixels between two times of the axis. */
const TICK = 110;
/** Upper end of the first row in pixels, if nothing is above the bars. */
export const TOP = 4;
/** Opacity of the time before a request, and of the time between a request and its first byte. */
const QUEUED = 0.5;
const WAITING = 0.4;

/** Colours of the style sheet of reports. */
export const INK_OF_REPORTS: Ink = {
  colours: Array.from({ length: 8 }, (_, at) => `var(--c${at})`),
  paper: "none",
  ink: "var(--ink)",
  quiet: "var(--grey)",
  grid: "var(--grid)",
};

export interface WaterfallLooks extends Pick<Looks, "width" | "isDark"> {
  /** Colours; by default the colours of figures. */
  ink?: Ink;
  /** Parts above the bars: the title with the facts and the legend, the legend, or nothing. */
  head?: "title" | "legend" | "nothing";
  /** Whether the figure is as wide as the element around it, or `width` pixels. */
  fit?: "fixed" | "fluid";
}

/** Returns the sentence that describes a load, with numbers. */
export function saysOf(load: PageLoad): string {
  return `Load ${load.page} of the page of ${load.flow}: ${factsOf(load).join("; ")}.`;
}

/** Returns the facts of a load: its objects, when it was complete, and its ByteIndex. */
export function factsOf(load: PageLoad): string[] {
  const { objects, took_s, byteIndex_s } = load;
  const bytes = objects.reduce((sum, one) => sum + one.bytes, 0);
  return [
    `${counted(objects.length, "object")} over ${counted(connectionsOf(load).length, "connection")}, ${size(bytes)}`,
    took_s === undefined ? "not complete at the end of the run" : `loaded after ${general(took_s, 4)} s`,
    ...(byteIndex_s === undefined ? [] : [`ByteIndex ${general(byteIndex_s, 4)} s`]),
    ...(objects.length > MAX_ROWS ? [`the first ${MAX_ROWS} are shown`] : []),
  ];
}

/** Returns the sentence that describes an object, with its times since the start of the load. */
export function saysOfObject({ name, bytes, connection, known_s, start_s, firstByte_s, end_s }: LoadedObject): string {
  const times = [
    ["known", known_s],
    ["requested", start_s],
    ["first byte", firstByte_s],
    ["complete", end_s],
  ] as const;
  const said = times.map(([event, time_s]) => `${event} ${general(time_s, 4)} s`);
  return `${name}: ${size(bytes)} over ${connection}, ${said.join(", ")}`;
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Positions in a waterfall, in pixels. */
interface Box {
  left: number;
  right: number;
  /** Upper end of the first row. */
  top: number;
  /** Upper and lower end of the curve. */
  curve: number;
  bottom: number;
  x(time_s: number): number;
}

function boxOf(load: PageLoad, width: number, head: NonNullable<WaterfallLooks["head"]>): Box {
  const longest = Math.max(...load.objects.map(({ name }) => name.length));
  const left = Math.min(Math.max(MIN_NAMES, LETTER * longest + 14), MAX_NAMES, width * MAX_PART);
  const right = width - RIGHT;
  const top = { title: TITLE + LEGEND, legend: LEGEND, nothing: TOP }[head];
  const curve = top + ROW * Math.min(load.objects.length, MAX_ROWS) + 16;
  const end_s = endOf(load);
  return { left, right, top, curve, bottom: curve + CURVE, x: (time_s) => left + ((right - left) * time_s) / end_s };
}

/** Renders a waterfall as SVG. */
export function drawnWaterfall({ title, load }: WaterfallFigure, looks: WaterfallLooks = {}): string {
  const { width = 960, isDark = false, head = "title", ink = inkOf(isDark), fit = "fixed" } = looks;
  const box = boxOf(load, width, head);
  const connections = connectionsOf(load);
  const colour = (one: LoadedObject) => ink.colours[connections.indexOf(one.connection) % ink.colours.length] ?? "";
  const parts = [
    ...(head === "title"
      ? [
          text(8, 18, title, ink.ink, { "font-weight": 600, "font-size": 13 }),
          text(8, 36, factsOf(load).join("; "), ink.quiet),
        ]
      : []),
    ...(head === "nothing" ? [] : legend(box, ink)),
    ...grid(load, box, ink),
    ...load.objects
      .slice(0, MAX_ROWS)
      .map((one, row) => bar(one, box.top + ROW * row, box, { ...ink, colours: [colour(one)] })),
    ...curve(load, box, ink),
    ...mark(load, box, ink),
  ];
  return page(width, box.bottom + BELOW, ink, saysOf(load), parts, fit);
}

/** The parts of a bar: their name, height and opacity. */
export const PARTS = [
  { name: "queued or connecting", height: 6, opacity: QUEUED },
  { name: "request to first byte", height: 12, opacity: WAITING },
  { name: "first to last byte", height: 12, opacity: 1 },
] as const;

function legend({ left, right, top }: Box, { ink, quiet }: Ink): string[] {
  const letter = 6.4;
  const wide = PARTS.map(({ name }) => 22 + letter * name.length + 20);
  const whole = wide.reduce((sum, one) => sum + one, 0);
  let x = Math.max(4, Math.min(left, right - whole));
  return PARTS.flatMap(({ name, height, opacity }, at) => {
    const y = top - 12 - height / 2;
    const sample = element("rect", { x, y, width: 16, height, fill: at === 0 ? quiet : ink, opacity });
    const said = text(x + 22, top - 8, name, quiet);
    x += wide[at] ?? 0;
    return [sample, said];
  });
}

function grid(load: PageLoad, { left, right, top, curve, bottom, x }: Box, { quiet, grid }: Ink): string[] {
  const times = ticks(0, endOf(load), Math.max(2, Math.round((right - left) / TICK)));
  return [
    ...times.flatMap((time_s) => [
      element("line", { x1: x(time_s), x2: x(time_s), y1: top, y2: bottom, stroke: grid }),
      text(x(time_s), bottom + 17, shown(time_s), quiet, { "text-anchor": "middle" }),
    ]),
    text((left + right) / 2, bottom + 34, "time since the start of the load (s)", quiet, { "text-anchor": "middle" }),
    text(left - 6, curve + 4, "100 %", quiet, { "text-anchor": "end" }),
    text(left - 6, bottom + 4, "0 %", quiet, { "text-anchor": "end" }),
    ...(left >= MIN_NAMES
      ? [text(left - 6, (curve + bottom) / 2 + 4, "bytes arrived", quiet, { "text-anchor": "end" })]
      : []),
  ];
}

function bar(one: LoadedObject, top: number, { left, x }: Box, { colours: [own = ""], ink, quiet }: Ink): string {
  const name = fitting(one.name, left - 14, (some) => LETTER * some.length);
  const edges = [one.known_s, one.start_s, one.firstByte_s, one.end_s];
  const parts = PARTS.map(({ height, opacity }, at) => {
    const [from_s = 0, to_s = 0] = edges.slice(at, at + 2);
    const place = { x: x(from_s), y: top + (ROW - height) / 2, width: Math.max(x(to_s) - x(from_s), 0.1), height };
    // The edge of a response of one packet shows, which has no length.
    const edge: Record<string, string> = at === 2 ? { stroke: own } : {};
    return element("rect", { ...place, fill: at === 0 ? quiet : own, opacity, ...edge });
  });
  const said = element("title", {}, escaped(saysOfObject(one)));
  return element("g", {}, said + text(left - 6, top + 12, name, ink, { "text-anchor": "end" }) + parts.join(""));
}

function curve(load: PageLoad, { left, right, bottom, x }: Box, { colours, quiet }: Ink): string[] {
  const arrived = arrivedOf(load);
  const corners = arrived.x.map(
    (time_s, at) => `${x(time_s).toFixed(1)},${(bottom - CURVE * (arrived.y[at] ?? 0)).toFixed(1)}`,
  );
  return [
    element("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: quiet }),
    element("polyline", { points: corners.join(" "), fill: "none", stroke: colours[0] ?? "", "stroke-width": 1.6 }),
  ];
}

/** Renders a mark at the time when the page was complete. */
function mark({ took_s }: PageLoad, { top, bottom, x }: Box, { ink }: Ink): string[] {
  if (took_s === undefined) {
    return [];
  }
  const at = x(took_s);
  return [
    element("line", { x1: at, x2: at, y1: top, y2: bottom, stroke: ink, "stroke-dasharray": "2 3" }),
    text(at - 6, bottom - 8, `onLoad ${general(took_s, 4)} s`, ink, { "text-anchor": "end" }),
  ];
}

/** Returns the objects of a load as a table. */
export function sheetOf({ objects }: PageLoad): Sheet {
  const column = (
    name: string,
    kind: SheetColumn["kind"],
    of: (one: LoadedObject) => string | number,
  ): SheetColumn => ({
    name,
    kind,
    bits: 64,
    hasGaps: false,
    at: (row) => {
      const one = objects[row];
      return one ? of(one) : null;
    },
  });
  return {
    name: "waterfall",
    rows: objects.length,
    columns: [
      column("object", "text", ({ name }) => name),
      column("connection", "text", ({ connection }) => connection),
      column("bytes", "count", ({ bytes }) => bytes),
      column("known_s", "number", ({ known_s }) => known_s),
      column("start_s", "number", ({ start_s }) => start_s),
      column("first_byte_s", "number", ({ firstByte_s }) => firstByte_s),
      column("end_s", "number", ({ end_s }) => end_s),
    ],
  };
}
