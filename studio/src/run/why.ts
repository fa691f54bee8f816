/**
 * Why a run was as fast as it was, in sentences: where the time of each sender went, losses, queues, window and BDP. They
 * are those of `lightlag report`, word for word.
 */

import { grouped, listed, milliseconds, number, percent, rate, size } from "../app/numbers.ts";
import type { FlowSummary, LegSummary, LinkSummary, Sender, Summary } from "./messages.ts";

/** The account of a run: a sentence, and flows, the slowest first, each with its sentences. */
export interface Account {
  headline: string;
  flows: [name: string, sentences: string[]][];
}

/** What the sentences need of the trace of a sender. */
export interface TraceFacts {
  /** Payload sent for the first time by its last row. */
  sent_bytes: number;
  /** Its largest window. */
  most_segments: number;
  /** The first row with a window of so many segments. */
  reached(segments: number): { time_s: number; arrived_bytes: number } | undefined;
}

/** What was recorded beside the summary. */
export interface Facts {
  trace(flow: string, leg: number | undefined): TraceFacts | undefined;
  /** Dropped packets on their way to the receiver, the most frequent kind first. */
  drops(flow: string): [link: string, cause: string, count: number][];
}

/** Flows that have an account of their own. */
const FLOWS = 6;
/** The share of the time from which on a link is called full. */
const FULL = 0.9;
/** Segments of a window from which on it is none: that of `congestion = "none"`. */
const UNLIMITED = 1e9;
/** The share of a sender's time below which a limit is left out. */
const LITTLE = 0.05;

const HELD: Record<string, string> = {
  cwnd: "the congestion window held it back",
  rwnd: "the receiver's window held it back",
  application: "its application had nothing to send, or the connection opened and closed",
  pacing: "pacing held it back",
  recovery: "it repaired losses",
  timeout: "it waited for timeouts, or repaired after them",
};

const MANY: Record<string, string> = {
  path: "met a slowest link that was full",
  failure: "were given up",
  none: "did not start",
  cwnd: "were held back most by the congestion window",
  rwnd: "were held back most by the receiver's window",
  application: "waited most for their application",
  pacing: "were held back most by pacing",
  recovery: "spent most of their time on repairs",
  timeout: "spent most of their time on timeouts",
};

const CAUSES: Record<string, string> = {
  queue: "the queue was full",
  aqm: "by the queue discipline",
  outage: "an outage of the link",
  error: "errors on the link",
  retry: "no answer on the air",
  lifetime: "waited too long on the air",
  no_route: "no route",
  route: "no way through the sky",
  scheduled: "losses that the scenario lists",
};

/** Why a run was as fast as it was. */
export function account(summary: Summary, facts: Facts): Account {
  return new Teller(summary, facts).account();
}

class Teller {
  private readonly links: Map<string, LinkSummary>;
  private readonly legs = new Map<string, LegSummary[]>();

  constructor(
    private readonly summary: Summary,
    private readonly facts: Facts,
  ) {
    this.links = new Map(summary.links.map((link) => [link.name, link]));
    for (const leg of summary.legs ?? []) {
      this.legs.set(leg.flow, [...(this.legs.get(leg.flow) ?? []), leg]);
    }
  }

  account(): Account {
    const flows = this.summary.flows.filter(({ congestion }) => congestion !== "udp");
    if (flows.length === 0) {
      return { headline: `No flow of TCP; ${this.summary.flows.length} flows of datagrams.`, flows: [] };
    }
    const slowest = [...flows].sort((a, b) => a.goodput_bps - b.goodput_bps).slice(0, FLOWS);
    const isAlone = flows.length === 1;
    return {
      headline: this.headline(flows),
      flows: slowest.map((flow) => [flow.name, this.ofFlow(flow, isAlone)]),
    };
  }

  private headline(flows: FlowSummary[]): string {
    const [only] = flows;
    if (only && flows.length === 1) {
      return `${only.name} reached ${this.ofItsPath(only)}: ${this.mainReason(only)}.`;
    }
    const rates = flows.map(({ goodput_bps }) => goodput_bps);
    const counts = new Map<string, number>();
    for (const kind of flows.map((flow) => this.kind(flow))) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const order = [...counts].sort((a, b) => b[1] - a[1]);
    const parts = order.map(([kind, count]) => `${order.length === 1 ? "all" : count} ${MANY[kind]}`);
    const [least, most] = [rates.reduce((a, b) => Math.min(a, b)), rates.reduce((a, b) => Math.max(a, b))];
    return `${grouped(flows.length)} flows reached ${rate(least)} to ${rate(most)}: ${listed(parts)}.`;
  }

  /** The sender whose account counts: that of the longest leg where proxies split a flow. */
  private sender(flow: FlowSummary): Sender & Partial<LegSummary> {
    const longer = (a: LegSummary, b: LegSummary) => ((b.min_rtt_s ?? 0) > (a.min_rtt_s ?? 0) ? b : a);
    return this.legs.get(flow.name)?.reduce(longer) ?? flow;
  }

  private kind(flow: FlowSummary): string {
    if (flow.failure) {
      return "failure";
    }
    if (this.utilisation(flow) >= FULL) {
      return "path";
    }
    const limits = Object.entries(this.sender(flow).limited_s);
    const [most] = [...limits].sort((a, b) => b[1] - a[1]);
    return most && most[1] > 0 ? most[0] : "none";
  }

  private link(flow: FlowSummary): LinkSummary | undefined {
    return this.links.get(flow.bottleneck ?? "");
  }

  /** The share of the run in which the slowest link on the way transmitted. */
  private utilisation(flow: FlowSummary): number {
    return this.link(flow)?.utilisation ?? 0;
  }

  private ofItsPath(flow: FlowSummary): string {
    const capacity = this.link(flow)?.rate_bps;
    if (!capacity) {
      return rate(flow.goodput_bps);
    }
    const share = `${shareOf(flow.goodput_bps / capacity)} of the ${rate(capacity)}`;
    return `${rate(flow.goodput_bps)}, ${share} of its slowest link, ${flow.bottleneck}`;
  }

  private mainReason(flow: FlowSummary): string {
    const kind = this.kind(flow);
    if (kind === "failure") {
      return `it was given up (${flow.failure})`;
    }
    if (kind === "path") {
      return `the path was the limit, the link transmitted ${percent(this.utilisation(flow))} of the time`;
    }
    if (kind === "none") {
      return "it did not start";
    }
    const limits = this.sender(flow).limited_s;
    return `for ${percent((limits[kind] ?? 0) / total(limits))} of its time ${HELD[kind]}`;
  }

  private ofFlow(flow: FlowSummary, isAlone: boolean): string[] {
    const sender = this.sender(flow);
    const end = ended(flow);
    const first = isAlone
      ? `${end.charAt(0).toUpperCase()}${end.slice(1)}.`
      : `It reached ${this.ofItsPath(flow)}; ${end}.`;
    const found = [first];
    if (this.legs.has(flow.name)) {
      found.push(`What follows is about its longest leg, ${sender.from}->${sender.to}.`);
    }
    found.push(...limitsOf(sender.limited_s));
    const hasTrace = this.summary.scenario.record.trace !== "off";
    const trace = hasTrace ? this.facts.trace(flow.name, sender.leg) : undefined;
    found.push(...this.window(flow, sender, trace));
    found.push(...this.losses(flow.name, sender));
    found.push(...this.queues(flow, sender));
    found.push(...this.sharing(flow));
    return found;
  }

  /** The mean window beside the BDP, and how long it took to get there. */
  private window(flow: FlowSummary, sender: Sender, trace: TraceFacts | undefined): string[] {
    const capacity = this.link(flow)?.rate_bps;
    const rtt = sender.min_rtt_s;
    const payload = payloadOf(sender, trace);
    const mean = sender.mean_cwnd_segments;
    const limits = sender.limited_s;
    const all = total(limits);
    const waits = (limits.application ?? 0) > 0.5 * all;
    if (!capacity || !rtt || !payload || !mean || waits || mean > UNLIMITED) {
      return [];
    }
    const bdp = (capacity * rtt) / 8;
    const share = (mean * payload) / bdp;
    const isFull = this.utilisation(flow) >= FULL;
    const least = `${size(bdp)} (${rate(capacity)} × ${milliseconds(rtt)})`;
    const found = [
      `The BDP is ${least}, about ${grouped(bdp / payload)} segments; its mean window, ${grouped(mean)} segments, is ` +
        `${shareOf(share)} of that${share < FULL && !isFull ? ", too little to fill the path" : ""}.`,
    ];
    const byReceiver = limits.rwnd ?? 0;
    if (LITTLE * all > 0 && byReceiver >= LITTLE * all) {
      found.push("A receive buffer that holds at least the BDP, and what queues hold, would not hold it back.");
    }
    if (trace && !isFull && byReceiver <= 0.5 * all) {
      found.push(...growth(trace, bdp / payload, sender.start_s ?? flow.start_s, rtt, capacity));
    }
    return found;
  }

  private losses(name: string, sender: Sender): string[] {
    const again = sender.retransmitted_segments;
    const drops = this.summary.scenario.record.drops === false ? undefined : this.facts.drops(name);
    const found: string[] = [];
    if (drops?.length) {
      const most = drops.slice(0, 3);
      const parts = most.map(([link, cause, count]) => `${grouped(count)} at ${link} (${CAUSES[cause] ?? cause})`);
      found.push(`Packets on their way to the receiver were dropped: ${listed(parts)}.`);
    } else if (drops && again === 0) {
      return ["No packet was dropped on its way to the receiver, and none was sent again."];
    }
    const repairs: string[] = [];
    if (sender.recoveries) {
      repairs.push(`${grouped(sender.recoveries)} fast recover${sender.recoveries === 1 ? "y" : "ies"}`);
    }
    if (sender.timeouts) {
      repairs.push(`${grouped(sender.timeouts)} timeout${sender.timeouts === 1 ? "" : "s"}`);
    }
    const sent = sender.sent_segments;
    if (sent) {
      const share = percent(again / sent, 2);
      const within = repairs.length ? `, in ${listed(repairs)}` : "";
      found.push(`It sent ${grouped(again)} of ${grouped(sent)} segments again (${share})${within}.`);
    }
    return found;
  }

  private queues(flow: FlowSummary, sender: Sender): string[] {
    const { min_rtt_s: least, mean_rtt_s: mean } = sender;
    const link = this.link(flow);
    if (!least || !mean || !link || !Number.isFinite(mean - least)) {
      return [];
    }
    return [
      `Its mean round trip, ${milliseconds(mean)}, is ${milliseconds(mean - least)} above the least, ` +
        `${milliseconds(least)}; the queue of ${flow.bottleneck} held ${number(link.mean_queue_packets, 3)} packets on ` +
        `average, ${grouped(link.max_queue_packets)} at most.`,
    ];
  }

  private sharing(flow: FlowSummary): string[] {
    const capacity = this.link(flow)?.rate_bps;
    const end = this.summary.simulated_s;
    const first = flow.start_s;
    const last = flow.finish_s ?? end;
    /** Whether another wants the same link for at least half of the flow's time. */
    const isBeside = (other: FlowSummary) => {
      const limits = other.limited_s;
      const isBusy = (limits.application ?? 0) <= 0.5 * total(limits);
      const time = Math.min(other.finish_s ?? end, last) - Math.max(other.start_s, first);
      return isBusy && time >= 0.5 * (last - first);
    };
    const same = this.summary.flows.filter((one) => one.bottleneck === flow.bottleneck && isBeside(one)).length;
    if (same < 2 || !capacity) {
      return [];
    }
    return [
      `${grouped(same)} flows share ${flow.bottleneck} most of that time: an equal share of its rate is ` +
        `${rate(capacity / same)}.`,
    ];
  }
}

function total(limits: Record<string, number>): number {
  return Object.values(limits).reduce((sum, value) => sum + value, 0);
}

/** A share in percent, with two digits for small ones. */
function shareOf(share: number): string {
  return share >= 0.095 ? percent(share) : `${number(100 * share, 2)}%`;
}

function ended(flow: FlowSummary): string {
  if (flow.failure) {
    return `it was given up: ${flow.failure}`;
  }
  if (flow.finish_s === null) {
    return `it had delivered ${size(flow.delivered_bytes)} when the run ended`;
  }
  return `its ${size(flow.delivered_bytes)} took ${number(flow.finish_s - flow.start_s, 4)} s`;
}

/** Where its time went. */
function limitsOf(limits: Record<string, number>): string[] {
  const all = total(limits);
  if (all <= 0) {
    return [];
  }
  const parts = Object.entries(limits)
    .sort((a, b) => b[1] - a[1])
    .filter(([, value]) => value / all >= LITTLE)
    .map(([name, value]) => `for ${percent(value / all)} ${HELD[name]}`);
  return [`Its time, ${number(all, 4)} s: ${parts.join("; ")}.`];
}

/** Bytes of a full segment, about. */
function payloadOf(sender: Sender, trace: TraceFacts | undefined): number | undefined {
  const first = sender.sent_segments - sender.retransmitted_segments;
  const sent = trace ? trace.sent_bytes : sender.delivered_bytes;
  return first > 0 && sent > 0 ? sent / first : undefined;
}

/** How long the window took to reach the BDP, and what that cost. */
function growth(trace: TraceFacts, bdp: number, start: number, rtt: number, capacity: number): string[] {
  const reached = trace.reached(bdp);
  if (!reached) {
    return [`The window never reached the BDP; it was ${grouped(trace.most_segments)} segments at most.`];
  }
  const took = reached.time_s - start;
  if (took <= 2 * rtt) {
    return [];
  }
  return [
    `The window took ${number(took, 3)} s, ${number(took / rtt, 3)} of the least round trips, to reach the BDP; until ` +
      `then ${size(reached.arrived_bytes)} had arrived of the ${size((capacity * took) / 8)} that the link could have ` +
      "carried.",
  ];
}
