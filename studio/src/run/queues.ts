/** How full the queues of links are at a time, and how many packets they dropped. */

import { grouped } from "../app/numbers.ts";
import type { Tables } from "../engine/protocol.ts";
import type { QueueSoFar, Summary } from "./messages.ts";

/**
 * The queues of a run: what was recorded so far and, where a queue was longer between two records, the maximum that the result
 * has. Every view takes them from here, so that all have the same numbers.
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

/** A number of packets, and "–" for one that is not recorded. */
export function counted(packets: number): string {
  return Number.isNaN(packets) ? "–" : grouped(packets);
}

interface Samples {
  times: number[];
  packets: number[];
  /** The sample that was in force at the last time. */
  at: number;
}

/** The queues of a run at the time that a picture shows. */
export class Queues {
  private recorded = new Map<number, QueueSoFar>();
  private readonly samples = new Map<number, Samples>();

  /** Takes the rows of a step. */
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

  /** Takes what the run has recorded so far, also before the picture was opened. */
  take(recorded: QueueSoFar[]): void {
    this.recorded = new Map(recorded.map((queue) => [queue.link, queue]));
  }

  /** Packets in a link's queue at a time, which never decreases; the newest record where no step was seen. */
  at(link: number, time: number): number {
    const samples = this.samples.get(link);
    if (!samples) {
      return this.recorded.get(link)?.now ?? 0;
    }
    const { times, packets } = samples;
    while (samples.at + 1 < times.length && (times[samples.at + 1] ?? 0) <= time) {
      samples.at++;
    }
    if (samples.at > 4096) {
      times.splice(0, samples.at);
      packets.splice(0, samples.at);
      samples.at = 0;
    }
    return packets[samples.at] ?? 0;
  }

  /** Maximum length of a link's queue so far. */
  most(link: number): number {
    return this.recorded.get(link)?.most ?? 0;
  }

  dropped(link: number): number {
    return this.recorded.get(link)?.dropped ?? 0;
  }

  /** Links whose queues held or dropped packets, the fullest first. */
  busiest(): number[] {
    const weight = ({ most, dropped }: QueueSoFar) => most + dropped;
    return [...this.recorded.values()]
      .sort((one, other) => weight(other) - weight(one) || one.link - other.link)
      .map(({ link }) => link);
  }
}
