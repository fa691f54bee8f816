/** How full the queues of links are at a time, and what they dropped. */

import type { Tables } from "../engine/protocol.ts";

interface Samples {
  times: number[];
  packets: number[];
  /** The sample that was in force when somebody last asked. */
  at: number;
}

export class Queues {
  /** The most packets that each link's queue has held so far. */
  readonly most = new Map<number, number>();
  /** Packets dropped on each link so far. */
  readonly dropped = new Map<number, number>();
  private readonly samples = new Map<number, Samples>();

  add({ queue, drops }: Tables): void {
    const { time_s, link, packets } = queue?.columns ?? {};
    for (let row = 0; row < (queue?.rows ?? 0); row++) {
      const number = link?.values[row] ?? 0;
      const held = packets?.values[row] ?? 0;
      const samples = this.samples.get(number) ?? { times: [], packets: [], at: 0 };
      this.samples.set(number, samples);
      samples.times.push(time_s?.values[row] ?? 0);
      samples.packets.push(held);
      if (held > (this.most.get(number) ?? 0)) {
        this.most.set(number, held);
      }
    }
    for (let row = 0; row < (drops?.rows ?? 0); row++) {
      const number = drops?.columns.link?.values[row] ?? 0;
      this.dropped.set(number, (this.dropped.get(number) ?? 0) + 1);
    }
  }

  /** Packets in a link's queue at a time. Times that are asked for grow; what lies behind is forgotten. */
  at(link: number, time: number): number {
    const samples = this.samples.get(link);
    if (!samples) {
      return 0;
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

  /** Links whose queues held or dropped packets, the fullest first. */
  busiest(): number[] {
    const links = new Set([...this.most.keys(), ...this.dropped.keys()]);
    const weight = (link: number) => (this.most.get(link) ?? 0) + (this.dropped.get(link) ?? 0);
    return [...links].sort((one, other) => weight(other) - weight(one));
  }
}
