/** Paints a plan with its queues and packets on a canvas. */

import { fitting } from "../app/fitting.ts";
import type { Spot } from "../app/layout.ts";
import { type Box, Crowd, mark, overlaps, palette, says, shape } from "./brushes.ts";
import { type Hop, progress } from "./hops.ts";
import type { Direction, Plan } from "./plan.ts";
import { counted } from "./queues.ts";
import { sharpen } from "./sharp.ts";

/** Maximum number of packets drawn in a frame. If there are more, only every second, third and so on is drawn. */
const MOST = 1_500;
/** If there are more packets, each is drawn as a small square, which takes a fraction of the time. */
const MANY = 300;
/** Pixels between the two directions of a link. */
const APART = 5;
/** Duration of the animation of a dropped packet, which falls off its link, in milliseconds. */
const FALL = 1_200;
/** Maximum number of falling packets in a frame. */
const MOST_FALLING = 60;
/** Maximum width of a node's name in pixels. */
const NAME = 160;

/** Lengths of the queues of links, in packets. */
export interface Levels {
  at(links: number[]): number;
  most(links: number[]): number;
  /** Returns the length shown next to the queue and in the table. It changes slowly, so that it can be read. */
  number(links: number[]): number;
}

interface Falling {
  x: number;
  y: number;
  since: number;
  colour: string;
  cause: string;
  isAck: boolean;
}

/** A name with its background. */
interface Label {
  box: Box;
  text: string;
  x: number;
  y: number;
  isQuiet: boolean;
}

export class Painter {
  /** Content of the last frame. */
  drawn = { packets: 0, oneOf: 1 };
  private readonly pen: CanvasRenderingContext2D | null;
  private palette = palette();
  private spots: Spot[] = [];
  private falling: Falling[] = [];
  private fallen = new WeakSet<Hop>();
  private width = 0;
  private height = 0;
  private isSmall = false;
  /** Names and their positions, until the plan changes. */
  private labels: Label[] | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private plan: Plan,
  ) {
    this.pen = canvas.getContext("2d");
    this.resize();
  }

  show(plan: Plan): void {
    this.plan = plan;
    this.fit();
    this.labels = undefined;
  }

  resize(): void {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    sharpen(this.canvas, this.pen);
    this.fit();
    this.labels = undefined;
  }

  restyle(): void {
    this.palette = palette();
  }

  /** Paints one frame. Without hops, only queues are drawn. */
  paint(shown: number, wall: number, hops: Hop[], levels: Levels, ways: [flow: number, nodes: number[]][] = []): void {
    const { pen } = this;
    if (!pen) {
      return;
    }
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineCap = "round";
    pen.font = "11px system-ui, sans-serif";
    this.links(pen);
    for (const [flow, nodes] of ways) {
      this.way(pen, flow, nodes);
    }
    this.packets(pen, shown, wall, hops);
    for (const { directions } of this.plan.lines) {
      for (const direction of directions) {
        this.queue(pen, direction, levels);
      }
    }
    this.nodes(pen);
    this.words(pen);
    this.fall(pen, wall);
  }

  /** Lets packets that were dropped fall again. */
  again(): void {
    this.fallen = new WeakSet();
    this.falling = [];
  }

  /** Returns true while a dropped packet is falling. */
  get isFalling(): boolean {
    return this.falling.length > 0;
  }

  private fit(): void {
    const { spots, extent = spots } = this.plan;
    const xs = extent.map(({ x }) => x);
    const ys = extent.map(({ y }) => y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const [margin, above] = [Math.min(90, this.width * 0.14), 44];
    const across = right > left ? (this.width - 2 * margin) / (right - left) : 0;
    const down = bottom > top ? (this.height - 2 * above) / (bottom - top) : 0;
    this.spots = spots.map(({ x, y }) => ({
      x: across ? margin + (x - left) * across : this.width / 2,
      y: down ? above + (y - top) * down : this.height / 2,
    }));
    this.isSmall = spots.length > 40;
  }

  /** Returns the ends of the line for one direction of a link. The two directions are drawn side by side. */
  private ends({ from, to }: Pick<Direction, "from" | "to">): [Spot, Spot] {
    const a = this.spots[from] ?? { x: 0, y: 0 };
    const b = this.spots[to] ?? { x: 0, y: 0 };
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const apart = this.isSmall ? 2 : APART;
    const [x, y] = [(-(b.y - a.y) / length) * apart, ((b.x - a.x) / length) * apart];
    return [
      { x: a.x - x, y: a.y - y },
      { x: b.x - x, y: b.y - y },
    ];
  }

  /** Draws all links as one path. */
  private links(pen: CanvasRenderingContext2D): void {
    pen.strokeStyle = this.palette.line;
    pen.lineWidth = this.isSmall ? 1 : 2;
    pen.beginPath();
    for (const { directions } of this.plan.lines) {
      for (const direction of directions) {
        const [a, b] = this.ends(direction);
        pen.moveTo(a.x, a.y);
        pen.lineTo(b.x, b.y);
      }
    }
    pen.stroke();
  }

  /** Draws the path of a flow over radios or satellites. */
  private way(pen: CanvasRenderingContext2D, flow: number, nodes: number[]): void {
    pen.strokeStyle = this.palette.flows[flow % 8] ?? this.palette.quiet;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 3;
    pen.beginPath();
    for (const node of nodes) {
      const spot = this.spots[this.plan.nodeOf.get(node) ?? -1];
      if (spot) {
        pen.lineTo(spot.x, spot.y);
      }
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  private queue(pen: CanvasRenderingContext2D, direction: Direction, levels: Levels): void {
    const most = levels.most(direction.links);
    const [a, b] = this.ends(direction);
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (most < 5 || length < 60) {
      return;
    }
    const held = levels.at(direction.links);
    const [x, y] = [(b.x - a.x) / length, (b.y - a.y) / length];
    // Outside of the line, a short distance from the node.
    const [from, wide] = [18, Math.min(54, length * 0.22)];
    const beside = (along: number, away: number): Spot => ({
      x: a.x + x * along + y * away,
      y: a.y + y * along - x * away,
    });
    const start = beside(from, 9);
    pen.save();
    pen.translate(start.x, start.y);
    pen.rotate(Math.atan2(y, x));
    pen.fillStyle = this.palette.paper;
    pen.strokeStyle = this.palette.strong;
    pen.lineWidth = 1;
    pen.fillRect(0, -5, wide, 10);
    pen.fillStyle =
      held >= most * 0.98 ? this.palette.bad : held > most * 0.6 ? this.palette.warn : this.palette.strong;
    pen.fillRect(wide - (wide * held) / most, -5, (wide * held) / most, 10);
    pen.strokeRect(0, -5, wide, 10);
    pen.restore();
    const text = beside(from + wide / 2, 23);
    pen.fillStyle = this.palette.ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(counted(levels.number(direction.links)), text.x, text.y);
  }

  private packets(pen: CanvasRenderingContext2D, shown: number, wall: number, hops: Hop[]): void {
    const moving = hops.filter((hop) => hop.start <= shown && (!hop.isTold || hop.end >= shown || this.isNew(hop)));
    const oneOf = Math.max(1, Math.ceil(moving.length / MOST));
    const crowd = moving.length > MANY ? new Crowd(this.palette) : undefined;
    let count = 0;
    const { nodeOf } = this.plan;
    for (const hop of moving) {
      const from = nodeOf.get(hop.from);
      const to = nodeOf.get(hop.to) ?? (hop.isDropped ? from : undefined);
      if (from === undefined || to === undefined || (from === to && !hop.isDropped)) {
        continue;
      }
      const [a, b] = this.ends({ from, to });
      const isAtQueue = hop.isDropped && !hop.isCrossed;
      const part = isAtQueue ? 0 : Math.min(1, Math.max(0, progress(hop, shown)));
      const [x, y] = [a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part];
      const look = this.palette.flows[hop.flow % 8] ?? this.palette.ink;
      const isAck = hop.backward || hop.len === 0;
      if (hop.isDropped && hop.end <= shown) {
        this.drop(hop, { x, y, since: wall, colour: look, cause: hop.cause, isAck });
      } else if (progress(hop, shown) >= 0 && hop.packet % oneOf === 0) {
        count++;
        if (crowd && !hop.again) {
          crowd.add(hop.flow % 8, isAck, x, y);
        } else {
          mark(pen, x, y, Math.atan2(b.y - a.y, b.x - a.x), look, isAck, hop.again ? this.palette.bad : undefined);
        }
      }
    }
    crowd?.draw(pen);
    this.drawn = { packets: count, oneOf };
  }

  private isNew(hop: Hop): boolean {
    return hop.isDropped && !this.fallen.has(hop);
  }

  private drop(hop: Hop, falling: Falling): void {
    if (this.isNew(hop) && this.falling.length < MOST_FALLING) {
      this.falling.push(falling);
    }
    this.fallen.add(hop);
  }

  private fall(pen: CanvasRenderingContext2D, wall: number): void {
    this.falling = this.falling.filter(({ since }) => wall - since < FALL);
    const named: Spot[] = [];
    for (const { x, y, since, colour: look, cause, isAck } of this.falling) {
      const part = (wall - since) / FALL;
      const down = y + 60 * part * part + 6 * part;
      pen.globalAlpha = 1 - part;
      mark(pen, x, down, part * 3, look, isAck, this.palette.bad);
      if (named.every((other) => Math.hypot(other.x - x, other.y - down) > 26)) {
        named.push({ x, y: down });
        pen.fillStyle = this.palette.bad;
        pen.textAlign = "left";
        pen.fillText(cause || "dropped", x + 8, down);
      }
    }
    pen.globalAlpha = 1;
  }

  private nodes(pen: CanvasRenderingContext2D): void {
    this.plan.nodes.forEach(({ kind }, index) => {
      const { x, y } = this.spots[index] ?? { x: 0, y: 0 };
      const size = this.isSmall ? 4 : 9;
      pen.fillStyle = this.palette.kinds[kind] ?? this.palette.quiet;
      pen.strokeStyle = this.palette.paper;
      pen.lineWidth = 2;
      pen.beginPath();
      shape(pen, kind, x, y, size);
      pen.fill();
      pen.stroke();
    });
  }

  private words(pen: CanvasRenderingContext2D): void {
    pen.textAlign = "center";
    pen.textBaseline = "top";
    this.labels ??= this.labelled(pen);
    for (const { box, text, x, y, isQuiet } of this.labels) {
      pen.fillStyle = this.palette.paper;
      pen.globalAlpha = 0.8;
      pen.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
      pen.globalAlpha = 1;
      pen.fillStyle = isQuiet ? this.palette.quiet : this.palette.ink;
      pen.fillText(text, x, y);
    }
  }

  /** Places the names of nodes and links; those without room are left out. */
  private labelled(pen: CanvasRenderingContext2D): Label[] {
    const labels: Label[] = [];
    const write = (text: string, x: number, y: number, isQuiet: boolean) => {
      const wide = pen.measureText(text).width;
      const left = Math.min(Math.max(x, wide / 2 + 2), this.width - wide / 2 - 2);
      const box = { left: left - wide / 2 - 2, right: left + wide / 2 + 2, top: y - 1, bottom: y + 13 };
      if (!labels.some((other) => overlaps(other.box, box))) {
        labels.push({ box, text, x: left, y, isQuiet });
      }
    };
    this.plan.nodes.forEach(({ name }, index) => {
      const { x, y } = this.spots[index] ?? { x: 0, y: 0 };
      const room = Math.min(NAME, this.width - 4);
      const text = fitting(name, room, (some) => pen.measureText(some).width);
      write(text, x, y + (this.isSmall ? 6 : 13), false);
    });
    const { lines } = this.plan;
    const degree = (node: number) => lines.filter(({ a, b }) => a === node || b === node).length;
    const said = new Set<string>();
    for (const line of lines.length > 40 ? [] : lines) {
      const { directions } = line;
      const [direction] = directions;
      if (!direction || direction.rate_bps === 0) {
        continue;
      }
      // Equal links of leaves at a node have one label.
      const hub = degree(line.a) === 1 ? line.b : degree(line.b) === 1 ? line.a : undefined;
      const key = `${hub} ${says(directions).join(" ")}`;
      if (hub !== undefined && said.has(key)) {
        continue;
      }
      said.add(key);
      const [a, b] = this.ends(direction);
      const isFlat = Math.abs(b.x - a.x) > Math.abs(b.y - a.y);
      says(directions).forEach((text, line) => {
        write(text, (a.x + b.x) / 2 + (isFlat ? 0 : 60), (a.y + b.y) / 2 + (isFlat ? 14 : -8) + line * 14, true);
      });
    }
    return labels;
  }
}
