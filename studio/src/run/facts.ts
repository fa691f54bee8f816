/** Facts gathered from the trace and the drops during a run, which explain its speed. */

import { type Account, analysed } from "../engine/analysis.ts";
import type { Summary, Table, Tables } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";

/** Maximum number of legs per flow. */
const LEGS = 64;

/** A sender: its flow and its leg, counted from 1. */
class Sender {
  sent_bytes = 0;
  least_rtt_s = Number.POSITIVE_INFINITY;
  /** Rows in which the window reached a new maximum. */
  readonly highest: [time_s: number, arrived_bytes: number, segments: number][] = [];
  private most_segments = Number.NEGATIVE_INFINITY;

  take(time_s: number, segments: number, arrived_bytes: number): void {
    if (segments > this.most_segments) {
      this.most_segments = segments;
      this.highest.push([time_s, arrived_bytes, segments]);
    }
  }
}

/** Facts of a run whose flows and links have these names. */
export class Gathered {
  private readonly senders = new Map<number, Sender>();
  private readonly dropped = new Map<number, Map<string, { link: string; cause: string; count: number }>>();

  constructor(
    private readonly flows: string[],
    private readonly links: string[],
  ) {}

  add({ trace, drops }: Tables): void {
    if (trace?.rows) {
      this.addTrace(trace);
    }
    if (drops?.rows) {
      this.addDrops(drops);
    }
  }

  /** Returns the reason for the speed of the run with this summary. */
  account({ flows, legs, links, simulated_s, scenario: { record } }: Summary): Account {
    const run = { flows, legs, links, simulated_s };
    const senders = analysed<{ flow: string; leg: number | null }[]>({ told_senders: run });
    const recorded = senders.map(({ flow, leg }) => ({
      trace: record.trace === "off" ? null : this.trace(flow, leg),
      drops: record.drops === false ? null : this.drops(flow),
    }));
    return analysed({ account: { run, recorded } });
  }

  /** Returns the number of packets of a flow that were dropped on the forward path. */
  lost(flow: number): number {
    let count = 0;
    for (const kind of this.dropped.get(flow)?.values() ?? []) {
      count += kind.count;
    }
    return count;
  }

  /** Returns the leg of a flow with the maximum round trip so far. */
  longestLeg(flow: number): number {
    let leg = 1;
    for (let other = 2; this.senders.has(keyOf(flow, other)); other++) {
      const rtt = (at: number) => {
        const least = this.senders.get(keyOf(flow, at))?.least_rtt_s ?? 0;
        return Number.isFinite(least) ? least : 0;
      };
      leg = rtt(other) > rtt(leg) ? other : leg;
    }
    return leg;
  }

  /** Bytes sent by a sender, and the growth of its window. */
  trace(flow: string, leg: number | null): { sent_bytes: number; highest: number[][] } | null {
    const sender = this.senders.get(keyOf(this.flows.indexOf(flow), leg ?? 1));
    return sender ? { sent_bytes: sender.sent_bytes, highest: sender.highest } : null;
  }

  /** Packets dropped on the forward path, the most frequent kind first. */
  drops(flow: string): [link: string, cause: string, count: number][] {
    const own = [...(this.dropped.get(this.flows.indexOf(flow))?.values() ?? [])];
    own.sort((a, b) => b.count - a.count || order(a.link, b.link) || order(a.cause, b.cause));
    return own.map(({ link, cause, count }) => [link, cause, count]);
  }

  private addTrace({ rows, columns }: Table<Recorded["trace"]>): void {
    const [times, flows, windows, arrived, sent, rtts, legs] = [
      columns.time_s,
      columns.flow,
      columns.cwnd_segments,
      columns.arrived_bytes,
      columns.sent_bytes,
      columns.rtt_s,
      columns.leg,
    ].map((column) => column?.values);
    let last = -1;
    let sender = new Sender();
    for (let row = 0; row < rows; row++) {
      const key = keyOf(flows?.[row] ?? 0, legs?.[row] || 1);
      if (key !== last) {
        sender = this.senders.get(key) ?? new Sender();
        this.senders.set(key, sender);
        last = key;
      }
      sender.sent_bytes = sent?.[row] ?? 0;
      const rtt = rtts?.[row] ?? Number.NaN;
      if (rtt < sender.least_rtt_s) {
        sender.least_rtt_s = rtt;
      }
      sender.take(times?.[row] ?? 0, windows?.[row] ?? Number.NaN, arrived?.[row] ?? 0);
    }
  }

  private addDrops({ rows, columns }: Table<Recorded["drops"]>): void {
    const { flow, link, cause, backward } = columns;
    const causes = Array.isArray(cause?.names) ? cause.names : [];
    for (let row = 0; row < rows; row++) {
      if (backward?.values[row]) {
        continue;
      }
      const of = flow?.values[row] ?? 0;
      const where = this.links[link?.values[row] ?? -1] ?? "";
      const why = causes[cause?.values[row] ?? -1] ?? "";
      const kinds = this.dropped.get(of) ?? new Map();
      this.dropped.set(of, kinds);
      const kind = kinds.get(`${where} ${why}`) ?? { link: where, cause: why, count: 0 };
      kind.count++;
      kinds.set(`${where} ${why}`, kind);
    }
  }
}

/** Returns the account of a run whose tables are complete. */
export function accountOf(run: { summary: Summary; tables: Tables; flows: string[]; links: string[] }): Account {
  const facts = new Gathered(run.flows, run.links);
  facts.add(run.tables);
  return facts.account(run.summary);
}

function keyOf(flow: number, leg: number): number {
  return flow * LEGS + leg;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
