/** Records of a run, in the worker, with bounded memory. */

import type { Table, Tables } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";
import { binWidth, decimated, levelAt, type Points } from "./decimate.ts";
import { DropRows, PhaseRows } from "./events.ts";
import type { Losses, LossQuery, Query, QueueSoFar, States } from "./messages.ts";
import { Rows } from "./rows.ts";

/** Maximum number of rows of a table; beyond it, the resolution is halved. */
export const MOST = 2_000_000;

const KEPT = {
  trace: ["cwnd_segments", "ssthresh_segments", "srtt_s", "rtt_s", "inflight_bytes", "acked_bytes", "arrived_bytes"],
  queue: ["packets", "bytes"],
} as const satisfies { [Name in "trace" | "queue"]: readonly Recorded[Name][] };

/** Maximum number of legs per flow. */
const LEGS = 64;

/** The tables of a run. */
export class Store {
  private readonly tables = { trace: new Map<number, Rows>(), queue: new Map<number, Rows>() };
  private readonly rows = { trace: 0, queue: 0 };
  private readonly halved = { trace: 0, queue: 0 };
  private readonly drops = new DropRows();
  private readonly phases = new Map<number, PhaseRows>();
  /** Links whose queues held or dropped packets. */
  private readonly byLink = new Map<number, QueueSoFar>();

  constructor(private readonly most = MOST) {}

  add({ trace, queue, drops }: Tables): void {
    if (trace?.rows) {
      this.addTo("trace", trace, "flow");
      this.addPhases(trace);
    }
    if (queue?.rows) {
      this.addTo("queue", queue, "link");
      this.addQueues(queue);
    }
    if (drops?.rows) {
      this.drops.add(drops);
      for (const link of drops.columns.link?.values ?? []) {
        this.queueOf(link).dropped++;
      }
    }
  }

  /** Returns the queues that have held or dropped packets so far. */
  queues(): QueueSoFar[] {
    return [...this.byLink.values()].map((queue) => ({ ...queue }));
  }

  /** Decimation of the tables, as text; empty while they are complete. */
  get thinned(): string {
    const parts = (["trace", "queue"] as const)
      .filter((name) => this.halved[name] > 0)
      .map((name) => `the ${name} is decimated to 1/${2 ** this.halved[name]} of its rows`);
    return this.drops.isThinned ? [...parts, "drops are counted in short intervals"].join(", ") : parts.join(", ");
  }

  /** Returns the points of a line; `leg` selects the sender if proxies split a flow. */
  series(query: Query, leg = 1): Points {
    const { from_s, to_s, points } = query;
    if (query.table === "goodput") {
      return this.goodput(query);
    }
    const rows = this.tables[query.table].get(query.table === "trace" ? keyOf(query.of, leg) : query.of);
    if (!rows) {
      return { x: new Float64Array(), y: new Float64Array() };
    }
    return decimated(rows.times, rows.column(query.column), from_s, to_s, points, rows.blocks(query.column));
  }

  losses(query: LossQuery): Losses {
    return this.drops.losses(query);
  }

  states(flow: number, leg = 1): States {
    return (
      this.phases.get(keyOf(flow, leg))?.states() ?? { from_s: new Float64Array(), state: new Uint8Array(), names: [] }
    );
  }

  /** Returns the last row of a flow, by column; undefined before the first. */
  last(flow: number, leg = 1): Record<string, number> | undefined {
    const rows = this.tables.trace.get(keyOf(flow, leg));
    if (!rows?.count) {
      return undefined;
    }
    const row: Record<string, number> = {
      first_s: rows.time[0] as number,
      time_s: rows.time[rows.count - 1] as number,
    };
    for (const name of rows.names) {
      row[name] = rows.column(name)[rows.count - 1] ?? Number.NaN;
    }
    return row;
  }

  /** Returns the state of a sender. */
  stateOf(flow: number, leg = 1): string {
    return this.phases.get(keyOf(flow, leg))?.last ?? "";
  }

  /** Computes the arrival rate of new payload, per interval; each point is at the middle of its interval. */
  private goodput({ of, from_s, to_s, points }: Query): Points {
    const rows = this.tables.trace.get(keyOf(of, 1));
    const end = Math.min(to_s, rows?.count ? (rows.time[rows.count - 1] as number) : 0);
    const width = Math.max(binWidth(to_s - from_s, 1e-3), (to_s - from_s) / Math.max(1, points - 2));
    const first = Math.max(0, Math.floor(from_s / width));
    const count = Math.max(0, Math.floor((end / width) * (1 + 1e-12)) - first);
    const x = new Float64Array(count);
    const y = new Float64Array(count);
    if (rows && count > 0) {
      const edges = Float64Array.from({ length: count + 1 }, (_, at) => (first + at) * width);
      const level = levelAt(edges, rows.times, rows.column("arrived_bytes"));
      for (let at = 0; at < count; at++) {
        x[at] = (first + at + 0.5) * width;
        y[at] = (8 * ((level[at + 1] as number) - (level[at] as number))) / width;
      }
    }
    return { x, y };
  }

  private addTo(name: "trace" | "queue", table: Table, key: "flow" | "link"): void {
    const times = table.columns.time_s?.values;
    const legs = name === "trace" ? table.columns.leg?.values : undefined;
    const keys = table.columns[key]?.values;
    const kept = KEPT[name];
    const sources = kept.map((column) => table.columns[column]?.values);
    const all = this.tables[name];
    let last = -1;
    let rows = new Rows(kept);
    for (let row = 0; row < table.rows; row++) {
      const number = keys?.[row] ?? 0;
      const of = name === "trace" ? keyOf(number, legs?.[row] || 1) : number;
      if (of !== last) {
        rows = all.get(of) ?? new Rows(kept);
        all.set(of, rows);
        last = of;
      }
      rows.push(times?.[row] ?? 0, sources, row);
    }
    this.rows[name] += table.rows;
    while (this.rows[name] > this.most) {
      this.halve(name);
    }
  }

  private halve(name: "trace" | "queue"): void {
    let left = this.thin(name);
    if (left > this.most / 2) {
      this.halved[name]++;
      left = this.thin(name);
    }
    // Rows of many flows, of which each has a few, cannot be fewer.
    this.rows[name] = Math.min(left, this.most / 2);
  }

  private thin(name: "trace" | "queue"): number {
    let left = 0;
    for (const rows of this.tables[name].values()) {
      rows.thin(this.halved[name]);
      left += rows.count;
    }
    return left;
  }

  private addPhases({ rows, columns }: Table<Recorded["trace"]>): void {
    const { time_s, flow, phase, leg } = columns;
    const names = Array.isArray(phase?.names) ? phase.names : [];
    let last = -1;
    let phases = new PhaseRows(names);
    for (let row = 0; row < rows; row++) {
      const key = keyOf(flow?.values[row] ?? 0, leg?.values[row] || 1);
      if (key !== last) {
        phases = this.phases.get(key) ?? new PhaseRows(names);
        this.phases.set(key, phases);
        last = key;
      }
      phases.take(time_s?.values[row] ?? 0, phase?.values[row] ?? 0);
    }
  }

  private addQueues({ rows, columns }: Table<Recorded["queue"]>): void {
    const { link, packets } = columns;
    for (let row = 0; row < rows; row++) {
      const of = link?.values[row] ?? 0;
      const held = packets?.values[row] ?? 0;
      if (held > 0 || this.byLink.has(of)) {
        const queue = this.queueOf(of);
        queue.now = held;
        queue.most = Math.max(queue.most, held);
      }
    }
  }

  private queueOf(link: number): QueueSoFar {
    const known = this.byLink.get(link) ?? { link, now: 0, most: 0, dropped: 0 };
    this.byLink.set(link, known);
    return known;
  }
}

function keyOf(flow: number, leg: number): number {
  return flow * LEGS + leg;
}
