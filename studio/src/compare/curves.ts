/** The curves of a run that a comparison keeps, as `lightlag.outcomes.outcome` does. */

import type { Table, Tables } from "../engine/protocol.ts";
import { thinnedRows } from "../save/report/charts.ts";

/** Equal steps of what had arrived. */
const STEPS = 1200;
/** Points of all windows of a run together, and the fewest of a flow. */
const POINTS = 1600;
const FEWEST = 200;
/** Flows whose windows are kept. */
const WINDOWS = 12;
/** Rows of a trace from which on every other one is left out. */
const MOST = 2_000_000;

export interface Window {
  flow: string;
  /** Seconds. */
  x: Float64Array;
  /** Segments. */
  y: Float64Array;
}

export interface Curves {
  /** Payload of all flows that had arrived, in bytes, at equal steps from 0 to the end; null where there is no trace. */
  arrived: Float64Array | null;
  /** Congestion windows of the first flows; of the longest leg where proxies split one. */
  windows: Window[];
}

/** The trace of one sender: a flow, or a leg of it. */
interface Sender {
  flow: number;
  leg: number;
  time: number[];
  arrived: number[];
  window: number[];
}

/** Takes the trace of a run as it comes. */
export class Gathering {
  private readonly senders = new Map<string, Sender>();
  private rows = 0;

  constructor(
    private readonly flows: readonly string[],
    private readonly most = MOST,
  ) {}

  add({ trace }: Tables): void {
    if (trace) {
      this.take(trace);
    }
    if (this.rows > this.most) {
      this.thin();
    }
  }

  /** The curves of a run that ended then; `longest` has the number of the longest leg of flows that proxies split. */
  curves(end_s: number, longest: ReadonlyMap<string, number>): Curves {
    const all = [...this.senders.values()];
    const receivers = all.filter(({ leg }) => leg === 1);
    const flows = [...new Set(all.map(({ flow }) => flow))];
    const points = Math.max(FEWEST, Math.ceil(POINTS / Math.max(flows.length, 1)));
    const windows = flows.slice(0, WINDOWS).flatMap((number): Window[] => {
      const flow = this.flows[number] ?? "";
      const sender = all.find((one) => one.flow === number && one.leg === (longest.get(flow) ?? 1));
      return sender ? [{ flow, ...thinned(sender, points) }] : [];
    });
    return { arrived: receivers.length > 0 ? levels(receivers, end_s) : null, windows };
  }

  private take({ rows, columns }: Table): void {
    const { time_s, flow, leg, arrived_bytes, cwnd_segments } = columns;
    for (let row = 0; row < rows; row++) {
      const sender = this.sender(flow?.values[row] ?? 0, leg?.values[row] || 1);
      sender.time.push(time_s?.values[row] ?? 0);
      sender.arrived.push(arrived_bytes?.values[row] ?? 0);
      sender.window.push(cwnd_segments?.values[row] ?? Number.NaN);
    }
    this.rows += rows;
  }

  private sender(flow: number, leg: number): Sender {
    const key = `${flow} ${leg}`;
    const known = this.senders.get(key);
    if (known) {
      return known;
    }
    const made = { flow, leg, time: [], arrived: [], window: [] };
    this.senders.set(key, made);
    return made;
  }

  private thin(): void {
    this.rows = 0;
    for (const sender of this.senders.values()) {
      const last = sender.time.length - 1;
      const kept = (values: number[]) => values.filter((_, row) => row % 2 === 0 || row === last);
      sender.window = kept(sender.window);
      sender.arrived = kept(sender.arrived);
      sender.time = kept(sender.time);
      this.rows += sender.time.length;
    }
  }
}

/** What had arrived of all flows, in whole bytes. Between two rows it grows evenly. */
function levels(receivers: readonly Sender[], end_s: number): Float64Array {
  const found = new Float64Array(STEPS + 1);
  for (const { time, arrived } of receivers) {
    let row = 0;
    for (let step = 0; step <= STEPS; step++) {
      const now = step === STEPS ? end_s : step * (end_s / STEPS);
      while (row < time.length && (time[row] as number) <= now) {
        row++;
      }
      found[step] = (found[step] as number) + levelAt(time, arrived, row, now);
    }
  }
  return found.map(Math.floor);
}

/** The level at a time, before which so many rows lie. */
function levelAt(time: readonly number[], level: readonly number[], row: number, now: number): number {
  if (row === 0) {
    return 0;
  }
  const [start, low] = [time[row - 1] as number, level[row - 1] as number];
  if (row === time.length || start === now) {
    return low;
  }
  return (((level[row] as number) - low) / ((time[row] as number) - start)) * (now - start) + low;
}

function thinned({ time, window }: Sender, points: number): { x: Float64Array; y: Float64Array } {
  const kept = thinnedRows(time, window, points);
  const of = (values: readonly number[], digits: number) =>
    Float64Array.from(kept, (row) => Number((values[row] as number).toFixed(digits)));
  return { x: of(time, 6), y: of(window, 3) };
}
