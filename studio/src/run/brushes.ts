/** Appearance of the objects in an animation of a network. */

import { rate, time } from "../app/layout.ts";
import { colour, SERIES } from "../app/theme.ts";
import type { Direction } from "./plan.ts";

export interface Palette {
  flows: string[];
  ink: string;
  quiet: string;
  paper: string;
  line: string;
  strong: string;
  warn: string;
  bad: string;
  kinds: Record<string, string>;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function overlaps(box: Box, other: Box): boolean {
  return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
}

/** Formats rate and delay of a link: once if both directions are equal. */
export function says(directions: Direction[]): string[] {
  const texts = directions.map(({ rate_bps, delay_s }) => `${rate(rate_bps)}, ${time(delay_s)}`);
  const [there, back] = texts;
  return there === back || back === undefined ? texts.slice(0, 1) : [`→ ${there}`, `← ${back}`];
}

/** Draws a packet: data as bars along the path, ACKs as rings. A rim marks retransmitted or lost packets. */
export function mark(
  pen: CanvasRenderingContext2D,
  x: number,
  y: number,
  angle: number,
  look: string,
  isAck: boolean,
  rim: string | undefined,
): void {
  if (isAck) {
    pen.strokeStyle = rim ?? look;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, 2.4, 0, 2 * Math.PI);
    pen.stroke();
    return;
  }
  const [along, across] = [Math.cos(angle), Math.sin(angle)];
  const bar = (wide: number, half: number, style: string) => {
    pen.strokeStyle = style;
    pen.lineWidth = wide;
    pen.beginPath();
    pen.moveTo(x - along * half, y - across * half);
    pen.lineTo(x + along * half, y + across * half);
    pen.stroke();
  };
  if (rim) {
    bar(7, 4, rim);
  }
  bar(4, 3.4, look);
}

/** Many packets as small squares, data and ACKs of each flow together: a style of the pen changes once for each. */
export class Crowd {
  /** x and y of packets, by colour; data first, then ACKs. */
  private readonly spots: number[][] = Array.from({ length: 16 }, () => []);

  constructor(private readonly palette: Palette) {}

  add(flow: number, isAck: boolean, x: number, y: number): void {
    this.spots[2 * flow + (isAck ? 1 : 0)]?.push(x, y);
  }

  draw(pen: CanvasRenderingContext2D): void {
    this.spots.forEach((spots, kind) => {
      const size = kind % 2 === 0 ? 5 : 3;
      pen.fillStyle = this.palette.flows[kind >> 1] ?? this.palette.ink;
      for (let at = 0; at < spots.length; at += 2) {
        pen.fillRect((spots[at] ?? 0) - size / 2, (spots[at + 1] ?? 0) - size / 2, size, size);
      }
    });
  }
}

export function shape(pen: CanvasRenderingContext2D, kind: string, x: number, y: number, size: number): void {
  if (kind === "station") {
    pen.moveTo(x, y - size);
    pen.lineTo(x + size, y + size * 0.8);
    pen.lineTo(x - size, y + size * 0.8);
    pen.closePath();
  } else if (kind === "router") {
    pen.rect(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7);
  } else if (kind === "satellite") {
    pen.moveTo(x, y - size);
    pen.lineTo(x + size, y);
    pen.lineTo(x, y + size);
    pen.lineTo(x - size, y);
    pen.closePath();
  } else {
    pen.arc(x, y, size, 0, 2 * Math.PI);
  }
}

export function palette(): Palette {
  return {
    flows: SERIES.map(colour),
    ink: colour("ink"),
    quiet: colour("quiet"),
    paper: colour("paper"),
    line: colour("line"),
    strong: colour("line-strong"),
    warn: colour("s5"),
    bad: colour("bad"),
    kinds: {
      host: colour("s1"),
      radio: colour("s3"),
      station: colour("s2"),
      satellite: colour("quiet"),
      router: colour("quiet"),
    },
  };
}
