/** Draws a space-time diagram, with the same code on a canvas and in SVG. */

import { fitting } from "../app/fitting.ts";
import { colour } from "../app/theme.ts";
import type { Piece, Stop } from "./drawn.ts";
import { drawnOf } from "./opening.ts";
import { ticks, type View } from "./stretch.ts";

export interface Size {
  width: number;
  height: number;
}

export interface Paper {
  line(from: Point, to: Point, look: string, wide: number, dash?: number[]): void;
  cross(at: Point, look: string): void;
  words(text: string, at: Point, look: string, side: "start" | "middle" | "end"): void;
  /** Returns the width of a text in pixels. */
  widthOf(text: string): number;
}

export interface Point {
  x: number;
  y: number;
}

const MARGIN = { left: 96, right: 16, top: 12, bottom: 34 };

/** Returns functions that convert a time and a distance to positions on the sheet. */
export function scale(stops: Stop[], view: View, { width, height }: Size) {
  const left = Math.min(MARGIN.left, width * 0.22);
  const whole = stops.at(-1)?.distance_s || 1;
  const across = (width - left - MARGIN.right) / (view.to_s - view.from_s);
  const down = (height - MARGIN.top - MARGIN.bottom) / whole;
  return {
    left,
    right: width - MARGIN.right,
    bottom: height - MARGIN.bottom,
    place: ({ time, distance }: Piece["from"]): Point => ({
      x: left + (time - view.from_s) * across,
      y: MARGIN.top + distance * down,
    }),
    time: (x: number) => view.from_s + (x - left) / across,
  };
}

export interface Content {
  stops: Stop[];
  pieces: Piece[];
  /** Time of the last transmission of each packet. */
  departures: Map<number, number>;
  nodes: string[];
  marked: number | undefined;
}

/** Renders axes, nodes and packets. */
export function drawSheet(
  paper: Paper,
  { stops, pieces, departures, nodes, marked }: Content,
  view: View,
  size: Size,
): void {
  const { left, right, bottom, place } = scale(stops, view, size);
  const [ink, quiet, grid] = [colour("ink"), colour("quiet"), colour("grid")];
  for (const time of ticks(view, Math.max(2, size.width / 130))) {
    const { x } = place({ time, distance: 0 });
    paper.line({ x, y: MARGIN.top }, { x, y: bottom }, grid, 1);
    paper.words(`${Number(time.toPrecision(10))}`, { x, y: bottom + 14 }, quiet, "middle");
  }
  paper.words("s", { x: right, y: bottom + 28 }, quiet, "end");
  let last = Number.NEGATIVE_INFINITY;
  for (const { node, distance_s } of stops) {
    const { y } = place({ time: 0, distance: distance_s });
    paper.line({ x: left, y }, { x: right, y }, colour("line-strong"), 1);
    if (y - last >= 12) {
      const name = fitting(nodes[node] ?? "", left - 12, (text) => paper.widthOf(text));
      paper.words(name, { x: left - 8, y: y + 4 }, ink, "end");
      last = y;
    }
  }
  const shown = inView(pieces, view);
  const drawn = drawnOf(shown, departures, place);
  for (const piece of shown) {
    if (!drawn.has(piece.hop.packet) && piece.hop.packet !== marked) {
      continue;
    }
    const [a, b] = clipped(place(piece.from), place(piece.to), left, right);
    const { hop } = piece;
    const isAck = hop.backward || hop.len === 0;
    const look = hop.packet === marked ? ink : hop.again ? colour("s2") : isAck ? colour("s3") : colour("s1");
    const wide = hop.packet === marked ? 3 : piece.kind === "waits" ? 3 : hop.again ? 2 : 1;
    paper.line(a, b, look, wide, isAck ? [4, 3] : undefined);
    if (hop.isDropped && piece.to.time === hop.end && b.x >= left && b.x <= right) {
      paper.cross(b, colour("bad"));
    }
  }
}

/** Returns the segments that are partly in view. */
export function inView(pieces: Piece[], { from_s, to_s }: View): Piece[] {
  return pieces.filter(({ from, to }) => to.time >= from_s && from.time <= to_s);
}

/** Clips a line to two borders. */
function clipped(a: Point, b: Point, left: number, right: number): [Point, Point] {
  const at = (x: number): Point => ({ x, y: a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x || 1) });
  return [a.x < left ? at(left) : a, b.x > right ? at(right) : b];
}

const FONT = "12px system-ui, sans-serif";
/** Assumed width of a letter in SVG, where text cannot be measured, in pixels, for the widest common fonts. */
const LETTER = 7;

/** Returns a `Paper` that draws on a canvas. */
export function onCanvas(pen: CanvasRenderingContext2D): Paper {
  return {
    line(from, to, look, wide, dash = []) {
      pen.strokeStyle = look;
      pen.lineWidth = wide;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(from.x, from.y);
      pen.lineTo(to.x, to.y);
      pen.stroke();
    },
    cross({ x, y }, look) {
      pen.strokeStyle = look;
      pen.lineWidth = 2;
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(x - 4, y - 4);
      pen.lineTo(x + 4, y + 4);
      pen.moveTo(x - 4, y + 4);
      pen.lineTo(x + 4, y - 4);
      pen.stroke();
    },
    words(text, { x, y }, look, side) {
      pen.fillStyle = look;
      pen.font = FONT;
      pen.textAlign = side === "middle" ? "center" : side;
      pen.fillText(text, x, y);
    },
    widthOf(text) {
      pen.font = FONT;
      return pen.measureText(text).width;
    },
  };
}

/** Returns a `Paper` that writes SVG, with a function that returns the text. */
export function onSvg({ width, height }: Size, title: string): Paper & { text(): string } {
  const parts: string[] = [];
  const n = (value: number) => String(Number(value.toFixed(2)));
  return {
    line(from, to, look, wide, dash) {
      const dashes = dash ? ` stroke-dasharray="${dash.join(" ")}"` : "";
      parts.push(
        `<path d="M${n(from.x)} ${n(from.y)}L${n(to.x)} ${n(to.y)}" stroke="${look}" stroke-width="${wide}"${dashes}/>`,
      );
    },
    cross({ x, y }, look) {
      const path = `M${n(x - 4)} ${n(y - 4)}l8 8M${n(x - 4)} ${n(y + 4)}l8 -8`;
      parts.push(`<path d="${path}" stroke="${look}" stroke-width="2"/>`);
    },
    words(text, { x, y }, look, side) {
      parts.push(`<text x="${n(x)}" y="${n(y)}" fill="${look}" text-anchor="${side}">${escaped(text)}</text>`);
    },
    widthOf: (text) => LETTER * text.length,
    text: () =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="sans-serif" font-size="12" fill="none" role="img"><title>${escaped(title)}</title>` +
      `<rect width="${width}" height="${height}" fill="${colour("paper")}"/>${parts.join("")}</svg>`,
  };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
