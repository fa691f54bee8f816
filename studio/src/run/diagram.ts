/** A space-time diagram on the page: a canvas that is zoomed and moved by pointer, wheel and keys. */

import { pinch } from "../app/pinch.ts";
import { nearest, type Piece } from "./drawn.ts";
import { departuresOf, drawnOf, opening } from "./opening.ts";
import { sharpen } from "./sharp.ts";
import { type Content, drawSheet, inView, onCanvas, onSvg, scale } from "./sheet.ts";
import { held, panned, type View, zoomed } from "./stretch.ts";

const REACH = 8;
const ZOOM = 1.25;

/** The part in view, the number of packets in it, and the number drawn. */
export interface Seen {
  view: View;
  packets: number;
  drawn: number;
}

export class Diagram {
  private content: Content = { stops: [], pieces: [], departures: new Map(), nodes: [], marked: undefined };
  private whole: View = { from_s: 0, to_s: 1 };
  private view: View = { from_s: 0, to_s: 1 };
  private readonly pen: CanvasRenderingContext2D | null;
  private grip: { x: number; view: View } | undefined;
  private frame = 0;
  private readonly endPinch: () => void;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tell: (piece: Piece | undefined) => void,
    private readonly seen: (seen: Seen) => void,
  ) {
    this.pen = canvas.getContext("2d");
    canvas.addEventListener("wheel", this.wheel, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.grip = { x: event.offsetX, view: this.view };
    });
    const release = () => {
      this.grip = undefined;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    this.endPinch = pinch(canvas, {
      now: () => this.view,
      time: (clientX) => this.scale().time(clientX - canvas.getBoundingClientRect().left),
      show: (view) => this.look(held(view, this.whole)),
      start: release,
    });
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.resize();
  }

  /**
   * Shows packets of a window: initially the given part of it, or one whose scale separates single packets.
   */
  show(
    content: Omit<Content, "marked" | "departures">,
    whole: View,
    roundTrip_s: number | undefined,
    view: View | undefined,
  ): void {
    this.content = { ...content, departures: departuresOf(content.pieces), marked: undefined };
    this.whole = whole;
    this.look(view ? held(view, whole) : opening(content.pieces, whole, roundTrip_s));
  }

  /** Zooms in or out about the middle, or about a position of the canvas. */
  zoom(factor: number, x?: number): void {
    const { from_s, to_s } = this.view;
    this.look(zoomed(this.view, x === undefined ? (from_s + to_s) / 2 : this.scale().time(x), factor, this.whole));
  }

  all(): void {
    this.look(this.whole);
  }

  /** Moves or zooms by a key. Returns false for other keys. */
  key(key: string): boolean {
    const step = (this.view.to_s - this.view.from_s) / 8;
    switch (key) {
      case "ArrowLeft":
        this.look(panned(this.view, -step, this.whole));
        return true;
      case "ArrowRight":
        this.look(panned(this.view, step, this.whole));
        return true;
      case "+":
      case "=":
        this.zoom(1 / ZOOM);
        return true;
      case "-":
        this.zoom(ZOOM);
        return true;
      case "0":
        this.all();
        return true;
      default:
        return false;
    }
  }

  resize(): void {
    sharpen(this.canvas, this.pen);
    this.tellSeen();
    this.paint();
  }

  /** Paints at the next frame. */
  paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.pen?.clearRect(0, 0, this.size.width, this.size.height);
      if (this.pen && this.content.stops.length > 0) {
        drawSheet(onCanvas(this.pen), this.content, this.view, this.size);
      }
    });
  }

  /** Returns the content as SVG. */
  svg(title: string): string {
    const paper = onSvg(this.size, title);
    drawSheet(paper, this.content, this.view, this.size);
    return paper.text();
  }

  close(): void {
    this.endPinch();
    cancelAnimationFrame(this.frame);
  }

  private get size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  private scale() {
    return scale(this.content.stops, this.view, this.size);
  }

  private look(view: View): void {
    this.view = view;
    this.tellSeen();
    this.paint();
  }

  private tellSeen(): void {
    const pieces = inView(this.content.pieces, this.view);
    const packets = new Set(pieces.map(({ hop }) => hop.packet)).size;
    this.seen({ view: this.view, packets, drawn: drawnOf(pieces, this.content.departures, this.scale().place).size });
  }

  private readonly wheel = (event: WheelEvent) => {
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, event.offsetX);
  };

  private hover({ offsetX, offsetY }: PointerEvent): void {
    if (this.grip) {
      const { time } = scale(this.content.stops, this.grip.view, this.size);
      this.look(panned(this.grip.view, time(this.grip.x) - time(offsetX), this.whole));
      return;
    }
    const found = nearest(
      inView(this.content.pieces, this.view),
      { x: offsetX, y: offsetY },
      this.scale().place,
      REACH,
    );
    if (found?.hop.packet !== this.content.marked) {
      this.content.marked = found?.hop.packet;
      this.tell(found);
      this.paint();
    }
  }
}
