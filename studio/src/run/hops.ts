/** Paths of packets, hop by hop, from the rows reported by a run. */

import type { NetworkLink, Table, Tables } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";
import { Sequences } from "./sequence.ts";

/** Index that means no link, or no node. */
export const NOWHERE = 0xffffffff;

/** Header bytes of a segment, for its transmission time. */
const HEADERS = 52;

/** One packet in transit between two nodes. Times are seconds of the run. */
export interface Hop {
  packet: number;
  flow: number;
  link: number;
  from: number;
  /** The next node; {@link NOWHERE} while it is unknown. */
  to: number;
  /** Time of arrival at the link and its queue. */
  start: number;
  /** Time of departure from the queue. */
  depart: number;
  /** Time of arrival at the next node, or of the drop. */
  end: number;
  /** Whether the end time was reported; until then it is computed from the link. */
  isTold: boolean;
  isDropped: boolean;
  /** Whether the packet was dropped at the far end of its link, and not at the queue. */
  isCrossed: boolean;
  /** Cause of the drop, if the run reported it. */
  cause: string;
  backward: boolean;
  /** Sequence number, unwrapped beyond 32 bits. */
  seq: number;
  ack: number;
  len: number;
  /** Whether its bytes were sent before. */
  again: boolean;
}

/** Collects hops from rows, which arrive in chronological order. */
export class Hops {
  /** All stored hops, in the order of their starts. */
  readonly kept: Hop[] = [];
  private readonly open = new Map<number, Hop>();
  /** For each link, the time when it has sent all of its packets. */
  private readonly free = new Map<number, number>();
  /** Highest sequence number sent so far, by flow. */
  private readonly highest = new Map<number, number>();
  readonly numbers = new Sequences();

  /** @param links the directions of links by index; links of a constellation or a medium report no delay */
  constructor(
    private readonly links: Pick<NetworkLink, "from" | "to" | "rate_bps" | "delay_s">[],
    private readonly isFixed = (link: number) => (links[link]?.delay_s ?? 0) > 0,
  ) {}

  add({ packets, drops, trace }: Tables): void {
    if (packets && packets.rows > 0) {
      this.numbers.note(trace, packets.columns.time_s?.values[0]);
      this.take(packets, drops);
    }
    this.numbers.note(trace);
  }

  private take(packets: Table, drops: Table<Recorded["drops"]> | undefined): void {
    const causes = causesOf(drops);
    const column = (name: string) => packets.columns[name]?.values ?? new Float64Array(packets.rows);
    const [time, packet, flow, node] = [column("time_s"), column("packet"), column("flow"), column("node")];
    const [link, event, backward] = [column("link"), column("event"), column("backward")];
    const [seq, ack, len] = [column("seq"), column("ack"), column("len")];
    const names = packets.columns.event?.names;
    const events = Array.isArray(names) ? names : ["sent", "forwarded", "received", "dropped"];
    for (let row = 0; row < packets.rows; row++) {
      const at = time[row] as number;
      const number = packet[row] as number;
      const place = node[row] as number;
      const before = this.open.get(number);
      const kind = events[event[row] as number];
      if (kind === "dropped") {
        const on = link[row] as number;
        this.drop(before, at, place, causes.get(`${on} ${flow[row]} ${at}`) ?? "");
        this.open.delete(number);
        continue;
      }
      if (before && kind !== "sent") {
        this.arrive(before, at, place);
      }
      this.open.delete(number);
      if (kind === "received") {
        continue;
      }
      const hop: Hop = {
        packet: number,
        flow: flow[row] as number,
        link: link[row] as number,
        from: place,
        to: this.links[link[row] as number]?.to ?? NOWHERE,
        start: at,
        depart: at,
        end: at,
        isTold: false,
        isDropped: false,
        isCrossed: false,
        cause: "",
        backward: backward[row] === 1,
        ...this.numbered(flow[row] as number, backward[row] === 1, seq[row] as number, ack[row] as number),
        len: len[row] as number,
        again: before?.again ?? false,
      };
      if (!this.isFixed(hop.link)) {
        hop.to = NOWHERE;
      }
      if (kind === "sent") {
        hop.again = this.isAgain(hop);
      }
      this.reckon(hop);
      this.open.set(number, hop);
      this.kept.push(hop);
    }
  }

  private numbered(flow: number, isBack: boolean, seq: number, ack: number): Pick<Hop, "seq" | "ack"> {
    const [own, other] = isBack ? (["backward", "forward"] as const) : (["forward", "backward"] as const);
    return { seq: this.numbers.unwrapped(flow, own, seq), ack: this.numbers.unwrapped(flow, other, ack) };
  }

  /** Returns the hops that started in the last `before` seconds up to a time. */
  around(time: number, before: number): Hop[] {
    return this.kept.slice(this.startedBy(time - before), this.startedBy(time));
  }

  /** Returns the number of hops that started up to a time. */
  private startedBy(time: number): number {
    let [low, high] = [0, this.kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.kept[middle]?.start ?? 0) <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Removes hops that ended before a time. */
  forget(before: number): void {
    let kept = 0;
    for (const hop of this.kept) {
      if (hop.end >= before || (!hop.isTold && hop.start >= before)) {
        this.kept[kept++] = hop;
      } else if (this.open.get(hop.packet) === hop) {
        this.open.delete(hop.packet);
      }
    }
    this.kept.length = kept;
  }

  /** Computes the times of a hop: a link sends packets one after another, in the order of arrival. */
  private reckon(hop: Hop): void {
    const link = this.links[hop.link];
    if (!link || !this.isFixed(hop.link)) {
      hop.end = hop.start;
      return;
    }
    const sending = ((hop.len + HEADERS) * 8) / link.rate_bps;
    hop.depart = Math.max(hop.start, this.free.get(hop.link) ?? 0);
    hop.end = hop.depart + sending + link.delay_s;
    this.free.set(hop.link, hop.depart + sending);
  }

  private arrive(hop: Hop, at: number, node: number): void {
    hop.isTold = true;
    hop.end = at;
    hop.to = node;
    const link = this.links[hop.link];
    if (link && this.isFixed(hop.link)) {
      const sending = ((hop.len + HEADERS) * 8) / link.rate_bps;
      hop.depart = Math.max(hop.start, at - link.delay_s - sending);
      this.free.set(hop.link, hop.depart + sending);
    }
  }

  private drop(hop: Hop | undefined, at: number, node: number, cause: string): void {
    // A packet rejected by a queue was never on the link.
    if (!hop || hop.from !== node) {
      return;
    }
    const link = this.links[hop.link];
    const sending = link ? ((hop.len + HEADERS) * 8) / link.rate_bps : 0;
    hop.isTold = true;
    hop.isDropped = true;
    hop.cause = cause;
    hop.end = at;
    hop.isCrossed = link !== undefined && this.isFixed(hop.link) && at - hop.start >= link.delay_s;
    if (hop.isCrossed && link) {
      hop.depart = Math.max(hop.start, at - link.delay_s - sending);
    } else {
      hop.depart = at;
      // It takes none of the link's time.
      this.free.set(hop.link, (this.free.get(hop.link) ?? at) - sending);
    }
  }

  private isAgain({ flow, backward, seq, len }: Hop): boolean {
    const { first } = this.numbers;
    if (!backward && !first.has(flow)) {
      // A SYN takes the number before the first byte.
      first.set(flow, len === 0 ? seq + 1 : seq);
    }
    if (backward || len === 0) {
      return false;
    }
    const highest = this.highest.get(flow);
    if (highest === undefined || seq > highest) {
      this.highest.set(flow, seq);
      return false;
    }
    return true;
  }
}

/** Returns the causes of drops by link, flow and time. */
function causesOf(drops: Table<Recorded["drops"]> | undefined): Map<string, string> {
  const causes = new Map<string, string>();
  const { time_s, link, flow, cause } = drops?.columns ?? {};
  const names = Array.isArray(cause?.names) ? cause.names : [];
  for (let row = 0; row < (drops?.rows ?? 0); row++) {
    const name = names[cause?.values[row] ?? -1] ?? "";
    causes.set(`${link?.values[row]} ${flow?.values[row]} ${time_s?.values[row]}`, name);
  }
  return causes;
}

/** Returns the position of a packet along its link at a time: below 0 it is queued, above 1 it has arrived. */
export function progress(hop: Hop, time: number): number {
  if (time < hop.depart) {
    return -1;
  }
  const { depart, end } = hop;
  if (end <= depart) {
    return hop.isTold ? 2 : 0;
  }
  const part = (time - depart) / (end - depart);
  return hop.isTold ? part : Math.min(part, 0.98);
}
