/** The charts of a run as data, for the screen and for files. */

import { signal } from "@preact/signals";
import { unitOfTime } from "../app/layout.ts";
import { factorOf, grouped, number } from "../app/numbers.ts";
import type { Figure as FigureOfFile } from "../save/figure.ts";
import { listed } from "../save/report/charts.ts";
import { placeOf } from "./decimate.ts";
import type { Live } from "./live.ts";
import type { Losses, Query, States } from "./messages.ts";
import type { Span } from "./span.ts";

export interface Looks {
  /** Index of its colour, and of its dash pattern unless it is solid. */
  at: number;
  isSolid: boolean;
  /** Whether each value holds until the next one, so that the line has steps. */
  isStep: boolean;
}

export interface Line {
  name: string;
  x: Float64Array;
  y: Float64Array;
  looks: Looks;
}

/** A chart over time. */
export interface Figure {
  key: "cwnd" | "rtt" | "goodput" | "queue" | "inflight" | "states";
  title: string;
  unit: string;
  lines: Line[];
  /** Reference levels of the lines. */
  bounds: { name: string; y: number }[];
  span: Span;
  /** Time that the run has reached. */
  now_s: number;
  /** End of the axis of values. */
  top: number;
  /** A sentence that describes the chart, with numbers. */
  says: string;
  losses?: Losses;
  states?: { name: string; states: States }[];
}

/** The charts on the screen. */
export const figures = signal<Figure[]>([]);

/** Returns the charts on the screen in the form for files. */
export function saved(): FigureOfFile[] {
  return figures.value
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, unit, lines, bounds, span }) => ({
      title,
      unit,
      xTitle: "time (s)",
      lines: [
        ...lines.map(({ name, x, y, looks }) => ({
          name,
          x,
          y,
          looks: looks.isStep ? ("step" as const) : ("line" as const),
        })),
        ...bounds.map(({ name, y }) => ({ name, x: [span.from_s, span.to_s], y: [y, y], looks: "line" as const })),
      ],
    }));
}

/** Flows and links by index, and the rate of the slowest link of each flow where it is known. */
export interface Chosen {
  flows: number[];
  links: number[];
  capacity(flow: number): number | undefined;
}

/** Returns the charts of a span of time. */
export async function figuresOf(live: Live, chosen: Chosen, span: Span, points: number): Promise<Figure[]> {
  const maker = new Maker(live, chosen, span, points);
  return Promise.all([maker.cwnd(), maker.rtt(), maker.goodput(), maker.queue(), maker.inflight(), maker.states()]);
}

class Maker {
  constructor(
    private readonly live: Live,
    private readonly chosen: Chosen,
    private readonly span: Span,
    private readonly points: number,
  ) {}

  async cwnd(): Promise<Figure> {
    const { flows } = this.chosen;
    const [lines, losses] = await Promise.all([
      this.perFlow("cwnd_segments", "cwnd"),
      this.live.losses({ ...this.span, points: 300 }),
    ]);
    let top = topOf(lines);
    if (flows.length === 1) {
      const ssthresh = await this.line("trace", "ssthresh_segments", flows[0] as number, "ssthresh", 1);
      lines.push({ ...ssthresh, looks: { ...ssthresh.looks, isSolid: false } });
      const high = topOf([ssthresh]);
      top = high <= 1.5 * top ? Math.max(top, high) : top;
    }
    const flat = usualTop(lines.filter(({ name }) => name !== "ssthresh"));
    const title = flows.length === 1 ? "cwnd and ssthresh" : "cwnd";
    return { ...this.figure("cwnd", title, "segments", lines, flat ?? top), losses };
  }

  async rtt(): Promise<Figure> {
    if (this.chosen.flows.length !== 1) {
      const lines = await this.perFlow("srtt_s", "SRTT");
      const [unit, length_s] = unitOfRtt(topOf(lines));
      return this.figure("rtt", "SRTT", unit, times(lines, 1 / length_s));
    }
    const [flow = 0] = this.chosen.flows;
    const lines = await Promise.all([
      this.line("trace", "rtt_s", flow, "RTT", 5),
      this.line("trace", "srtt_s", flow, "SRTT", 0),
    ]);
    const [unit, length_s] = unitOfRtt(topOf(lines));
    return this.figure("rtt", "RTT and SRTT", unit, times(lines, 1 / length_s));
  }

  async goodput(): Promise<Figure> {
    const { flows } = this.chosen;
    const isAlone = flows.length === 1;
    const names = (flow: number) => (isAlone ? "goodput" : this.flow(flow));
    const raw = await Promise.all(
      flows.map((flow, at) => this.line("goodput", "goodput_bps", flow, names(flow), at, false)),
    );
    const high = topOf(raw);
    const [factor, prefix] = factorOf(high);
    const rates = new Set(flows.map((flow) => this.chosen.capacity(flow)));
    const [capacity] = rates;
    const isNear = rates.size === 1 && capacity !== undefined && capacity <= 2.5 * high;
    const bounds = isNear ? [{ name: "slowest link", y: capacity / factor }] : [];
    const top = Math.max(high / factor, bounds[0]?.y ?? 0);
    return { ...this.figure("goodput", "Goodput", `${prefix}bit/s`, times(raw, 1 / factor), top), bounds };
  }

  async queue(): Promise<Figure> {
    const { links } = this.chosen;
    const lines = await Promise.all(
      links.map((link, at) => this.line("queue", "packets", link, this.live.started.links[link] ?? "", at)),
    );
    return this.figure("queue", "Queues", "packets", lines);
  }

  async inflight(): Promise<Figure> {
    const raw = await this.perFlow("inflight_bytes", "in flight");
    const [factor, prefix] = factorOf(topOf(raw));
    return this.figure("inflight", "In flight", `${prefix}B`, times(raw, 1 / factor));
  }

  async states(): Promise<Figure> {
    const { flows } = this.chosen;
    const states = await Promise.all(
      flows.map(async (flow) => ({ name: this.flow(flow), states: await this.live.states(flow) })),
    );
    const end = Math.min(this.live.now.peek(), this.span.to_s);
    const said = states.map(({ name, states: { from_s, state, names } }) => {
      let times = 0;
      let away = 0;
      for (let at = 0; at < from_s.length; at++) {
        const start = Math.max(from_s[at] as number, this.span.from_s);
        const time = Math.min(from_s[at + 1] ?? end, end) - start;
        if (names[state[at] as number] !== "open" && time > 0) {
          times++;
          away += time;
        }
      }
      return `${name} repaired losses ${times} time${times === 1 ? "" : "s"}, for ${number(away, 3)} s`;
    });
    const says = said.length ? `States of senders: ${listed(said)}.` : "No flow is shown.";
    return { ...this.figure("states", "States", "", [], 1), states, says };
  }

  private perFlow(column: string, alone: string): Promise<Line[]> {
    const { flows } = this.chosen;
    const name = (flow: number) => (flows.length === 1 ? alone : this.flow(flow));
    return Promise.all(flows.map((flow, at) => this.line("trace", column, flow, name(flow), at)));
  }

  private flow(number: number): string {
    return this.live.started.flows[number] ?? "";
  }

  private async line(table: Query["table"], column: string, of: number, name: string, at: number, isStep = true) {
    const { points } = this;
    const found = await this.live.series({ table, column, of, ...this.span, points });
    return { name, ...found, looks: { at, isSolid: isStep, isStep } };
  }

  private figure(key: Figure["key"], title: string, unit: string, lines: Line[], top = topOf(lines)): Figure {
    const { span } = this;
    const said = lines.map((line) => `${line.name} ${numbersOf(line, span, unit)}`);
    const says = said.length ? `${title}: ${listed(said)}.` : `${title}: nothing is shown.`;
    const now_s = this.live.now.peek();
    return { key, title, unit, lines, bounds: [], span, now_s, top: top > 0 ? top : 1, says };
  }
}

/** Returns the minimum, the maximum and the last value of a line in a span; undefined if it has none. */
export function ends(
  { x, y }: Line,
  { from_s, to_s }: Span,
): { least: number; most: number; last: number } | undefined {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let last = Number.NaN;
  const first = Math.max(0, placeOf(x, from_s, true) - 1);
  for (let at = first; at < x.length && (x[at] as number) <= to_s; at++) {
    const value = y[at] as number;
    if (!Number.isNaN(value)) {
      least = Math.min(least, value);
      most = Math.max(most, value);
      last = value;
    }
  }
  return Number.isNaN(last) ? undefined : { least, most, last };
}

/** Returns the value of a line at a time. */
export function valueAt({ x, y, looks }: Line, time: number): number {
  const at = placeOf(x, time, true) - 1;
  if (!looks.isStep && at + 1 < x.length && (at < 0 || time - (x[at] as number) > (x[at + 1] as number) - time)) {
    return y[at + 1] as number;
  }
  return at < 0 ? Number.NaN : (y[at] as number);
}

/** Returns the unit of a chart of round trips: milliseconds below 10 s. */
function unitOfRtt(longest_s: number): [unit: string, length_s: number] {
  return longest_s < 10 ? ["ms", 1e-3] : unitOfTime(longest_s);
}

/** Formats a value for charts. */
export function short(value: number): string {
  return Number.isNaN(value) ? "–" : Math.abs(value) >= 1000 ? grouped(value) : number(value, 4);
}

function numbersOf(line: Line, span: Span, unit: string): string {
  const found = ends(line, span);
  return found
    ? `${short(found.least)} to ${short(found.most)} ${unit}, ${short(found.last)} at the end`
    : "without a value";
}

function times(lines: Line[], factor: number): Line[] {
  return lines.map((line) => ({ ...line, y: line.y.map((value) => value * factor) }));
}

function topOf(lines: Line[]): number {
  let top = 0;
  for (const { y } of lines) {
    for (const value of y) {
      if (value > top) {
        top = value;
      }
    }
  }
  return top;
}

/** Returns the bound that cuts off a peak, if it is more than 4 times the 90th percentile over time of the lines. */
export function usualTop(lines: Line[]): number | undefined {
  let usual = 0;
  let peak = 0;
  for (const { x, y } of lines) {
    const steps: [value: number, time: number][] = [];
    let left = 0;
    for (let at = 0; at + 1 < x.length; at++) {
      const value = y[at] as number;
      const time = (x[at + 1] as number) - (x[at] as number);
      if (!Number.isNaN(value)) {
        steps.push([value, time]);
        left += 0.9 * time;
        peak = Math.max(peak, value);
      }
    }
    steps.sort((a, b) => a[0] - b[0]);
    for (const [value, time] of steps) {
      left -= time;
      if (left <= 0) {
        usual = Math.max(usual, value);
        break;
      }
    }
  }
  return usual > 0 && peak > 4 * usual ? 1.6 * usual : undefined;
}
