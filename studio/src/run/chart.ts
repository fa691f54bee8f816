/** A chart on the screen. */

import "uplot/dist/uPlot.min.css";
import uPlot from "uplot";
import { pinch } from "../app/pinch.ts";
import { colour, DASHES, SERIES } from "../app/theme.ts";
import type { Figure, Line } from "./figures.ts";
import { drawBounds, drawLosses, drawStates } from "./marks.ts";
import { cursor, type Span, scaled } from "./span.ts";

/** Pixels reserved at the left for names of values, the same in all charts, so that their times are aligned. */
const GUTTER = 58;
/** Delay before a chart that is scrolled out of sight is redrawn, in milliseconds. */
const UNSEEN = 400;

export interface Moves {
  /** Called when a part of the time was selected; with undefined when the entire time was selected. */
  show(span: Span | undefined): void;
  /** Returns the span that is shown. */
  now(): Span;
}

/** A chart of figures of one kind. It is rebuilt when its lines change. */
export class Chart {
  private plot: uPlot | undefined;
  private figure: Figure | undefined;
  private drawn: Figure | undefined;
  private theme = "";
  private kind = "";
  private frame = 0;
  private later: ReturnType<typeof setTimeout> | undefined;
  private isSeen = true;
  private readonly sizes: ResizeObserver;
  private readonly sight: IntersectionObserver;
  private readonly endPinch: () => void;

  constructor(
    private readonly host: HTMLElement,
    private readonly moves: Moves,
  ) {
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(host);
    this.sight = new IntersectionObserver((seen) => {
      this.isSeen = seen.at(-1)?.isIntersecting ?? true;
      this.schedule();
    });
    this.sight.observe(host);
    host.addEventListener("wheel", this.wheel, { passive: false });
    host.addEventListener("dblclick", this.all);
    this.endPinch = pinch(host, {
      now: () => this.moves.now(),
      time: (clientX) => this.time(clientX),
      show: (span) => this.moves.show(span),
    });
  }

  /** Renders a figure over the current span in the next frame, or a little later if the chart is out of sight. */
  show(figure: Figure, theme: string): void {
    this.figure = figure;
    this.theme = theme;
    if (this.plot) {
      this.schedule();
    } else {
      this.draw();
    }
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.later);
    this.sizes.disconnect();
    this.sight.disconnect();
    this.host.removeEventListener("wheel", this.wheel);
    this.host.removeEventListener("dblclick", this.all);
    this.endPinch();
    this.plot?.destroy();
    this.plot = undefined;
  }

  private schedule(): void {
    if (this.isSeen && this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    } else if (!this.isSeen && this.later === undefined) {
      this.later = setTimeout(() => {
        this.later = undefined;
        this.draw();
      }, UNSEEN);
    }
  }

  private draw(): void {
    const { figure, theme } = this;
    if (!figure) {
      return;
    }
    const kind = [theme, figure.unit, ...figure.lines.map(({ name, looks }) => `${name} ${looks.at}`)].join("\n");
    if (!this.plot || kind !== this.kind) {
      this.kind = kind;
      this.plot?.destroy();
      this.plot = new uPlot(this.options(figure), dataOf(figure.lines, figure.span), this.host);
    } else if (figure !== this.drawn) {
      this.plot.setData(dataOf(figure.lines, figure.span), true);
    } else {
      const [min, max] = this.range();
      this.plot.setScale("x", { min, max });
    }
    this.drawn = figure;
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (this.plot && width > 0 && (this.plot.width !== width || this.plot.height !== height)) {
      this.plot.setSize({ width, height });
    }
  }

  private readonly all = () => this.moves.show(undefined);

  private readonly wheel = (event: WheelEvent) => {
    const { plot } = this;
    // A wheel without a key scrolls the page.
    if (!plot || !(event.ctrlKey || event.shiftKey || event.altKey || this.host.matches(":focus-within"))) {
      return;
    }
    event.preventDefault();
    const turn = event.deltaY || event.deltaX;
    this.moves.show(scaled(this.moves.now(), 1.0015 ** turn, this.time(event.clientX)));
  };

  /** Returns the time at a position of the window. */
  private time(clientX: number): number {
    const { from_s, to_s } = this.moves.now();
    const { left, width } = (this.plot?.over ?? this.host).getBoundingClientRect();
    return from_s + ((clientX - left) / (width || 1)) * (to_s - from_s);
  }

  private options(figure: Figure): uPlot.Options {
    const ink = colour("quiet");
    const grid = { stroke: colour("grid"), width: 1 };
    const font = `11px ${colour("sans")}`;
    const axis = { stroke: ink, font, grid, ticks: { ...grid, size: 4 } };
    const isStates = figure.key === "states";
    return {
      width: this.host.clientWidth || 300,
      height: this.host.clientHeight || 150,
      padding: [figure.losses ? 14 : 6, 10, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => this.range() },
        y: { range: () => [0, (this.figure?.top ?? 1) * (isStates ? 1 : 1.05)] },
      },
      axes: [
        { ...axis, size: 22, gap: 3 },
        isStates
          ? { ...axis, size: GUTTER, values: () => [], grid: { show: false }, ticks: { show: false } }
          : { ...axis, size: GUTTER, gap: 4, values: (_, ticks) => ticks.map(tick) },
      ],
      cursor: {
        sync: { key: "run", setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
        y: false,
        bind: { dblclick: () => null },
      },
      series: [{}, ...(figure.lines.length ? figure.lines : [NOTHING]).map(series)],
      hooks: {
        setSelect: [(plot) => this.select(plot)],
        setCursor: [
          (plot) => {
            const { left = -1 } = plot.cursor;
            cursor.value = left >= 0 ? plot.posToVal(left, "x") : undefined;
          },
        ],
        draw: [
          (plot) => {
            if (this.figure) {
              drawBounds(plot, this.figure);
              drawLosses(plot, this.figure);
              drawStates(plot, this.figure, font);
            }
          },
        ],
      },
    };
  }

  private range(): [number, number] {
    const { from_s, to_s } = this.moves.now();
    return [from_s, to_s];
  }

  private select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width > 3) {
      this.moves.show({ from_s: plot.posToVal(left, "x"), to_s: plot.posToVal(left + width, "x") });
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }
  }
}

const NOTHING: Line = {
  name: "",
  x: new Float64Array(),
  y: new Float64Array(),
  looks: { at: 0, isSolid: true, isStep: false },
};

function series({ name, looks }: Line): uPlot.Series {
  const line: uPlot.Series = {
    label: name,
    stroke: colour(SERIES[looks.at % SERIES.length] ?? "s1"),
    width: 1.4,
    dash: looks.isSolid ? [] : (DASHES[looks.at % DASHES.length] ?? []),
    points: { show: false },
    spanGaps: false,
  };
  const stepped = looks.isStep ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return stepped ? { ...line, paths: stepped } : line;
}

/** Aligns lines to the union of their times. Where a line has no point, it continues; a missing value interrupts it. */
function dataOf(lines: Line[], { from_s, to_s }: Span): uPlot.AlignedData {
  if (lines.length === 0) {
    return [
      [from_s, to_s],
      [null, null],
    ];
  }
  const tables = lines.map(({ x, y }) => [
    Array.from(x),
    Array.from(y, (value) => (Number.isNaN(value) ? null : value)),
  ]);
  const [only] = tables;
  return (tables.length === 1 ? only : uPlot.join(tables as uPlot.AlignedData[])) as uPlot.AlignedData;
}

function tick(value: number | null): string {
  return value === null
    ? ""
    : Math.abs(value) >= 10_000
      ? value.toLocaleString("en-US")
      : String(Number(value.toPrecision(6)));
}
