/** Lengths of the link queues at a time, and their dropped packets. */

import { grouped } from "../app/numbers.ts";
import type { Summary, Tables } from "../engine/protocol.ts";
import type { QueueSoFar } from "./messages.ts";

/**
 * Returns the queues of a run as recorded so far. If a queue was longer between two records, the maximum is taken from
 * the result. Every view uses these values, so that all show the same numbers.
 */
export function queuesOf(recorded: QueueSoFar[], links: string[], summary: Summary | undefined): QueueSoFar[] {
  // Frames that are dropped on the air have no link.
  const known = recorded.filter(({ link }) => link < links.length);
  if (!summary) {
    return known;
  }
  const numbers = new Map(links.map((name, link) => [name, link]));
  const found = new Map(known.map((queue) => [queue.link, queue]));
  const now = summary.scenario.record.queue === "off" ? Number.NaN : 0;
  for (const { name, max_queue_packets } of summary.links) {
    const link = numbers.get(name);
    const before = link === undefined ? undefined : (found.get(link) ?? { link, now, most: 0, dropped: 0 });
    if (before && max_queue_packets > before.most) {
      found.set(before.link, { ...before, most: max_queue_packets });
    }
  }
  return [...found.values()];
}

/** Formats a number of packets; "–" if it is not recorded. */
export function counted(packets: number): string {
  return Number.isNaN(packets) ? "–" : grouped(packets);
}

interface Samples {
  times: number[];
  packets: number[];
  /** Index of the sample that applied at the last time. */
  at: number;
}

/** The queues of a run at the time of a frame. */
export class Queues {
  private recorded = new Map<number, QueueSoFar>();
  private readonly samples = new Map<number, Samples>();

  /** @param isKept whether the times of successive calls may decrease, so that all samples are stored */
  constructor(private readonly isKept = false) {}

  /** Adds the rows of a step. */
  add({ queue }: Tables): void {
    const { time_s, link, packets } = queue?.columns ?? {};
    for (let row = 0; row < (queue?.rows ?? 0); row++) {
      const number = link?.values[row] ?? 0;
      const samples = this.samples.get(number) ?? { times: [], packets: [], at: 0 };
      this.samples.set(number, samples);
      samples.times.push(time_s?.values[row] ?? 0);
      samples.packets.push(packets?.values[row] ?? 0);
    }
  }

  /** Takes the records so far, including those from before the animation was opened. */
  take(recorded: QueueSoFar[]): void {
    this.recorded = new Map(recorded.map((queue) => [queue.link, queue]));
  }

  /**
   * Returns the number of packets in a link's queue at a time; the times of successive calls must not decrease. Before
   * the first step, it is the newest record.
   */
  at(link: number, time: number): number {
    const samples = this.samples.get(link);
    if (!samples) {
      return this.recorded.get(link)?.now ?? 0;
    }
    const { times, packets } = samples;
    if (this.isKept && (times[samples.at] ?? 0) > time) {
      samples.at = 0;
    }
    while (samples.at + 1 < times.length && (times[samples.at + 1] ?? 0) <= time) {
      samples.at++;
    }
    if (!this.isKept && samples.at > 4096) {
      times.splice(0, samples.at);
      packets.splice(0, samples.at);
      samples.at = 0;
    }
    return packets[samples.at] ?? 0;
  }

  /** Returns the maximum length of a link's queue so far. */
  most(link: number): number {
    return this.recorded.get(link)?.most ?? 0;
  }

  dropped(link: number): number {
    return this.recorded.get(link)?.dropped ?? 0;
  }

  /** Returns links whose queues held or dropped packets, the fullest first. */
  busiest(): number[] {
    const weight = ({ most, dropped }: QueueSoFar) => most + dropped;
    return [...this.recorded.values()]
      .sort((one, other) => weight(other) - weight(one) || one.link - other.link)
      .map(({ link }) => link);
  }
}
