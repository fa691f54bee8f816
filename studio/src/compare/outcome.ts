/** What a comparison keeps of one run. Flows of UDP have no part in its measures, unless there is nothing else. */

import type { Curves, Gathering } from "./curves.ts";
import { exactSum, mean } from "./sums.ts";

export interface FlowOutcome {
  name: string;
  congestion: string;
  goodputBps: number;
  completionS: number | null;
  /** Its smallest round-trip sample; where proxies split it, the sum of those of its legs. */
  minRttS: number | null;
}

export interface Outcome {
  seed: number;
  goodputBps: number;
  completionS: number | null;
  jain: number;
  retransmittedShare: number;
  queueingMeanS: number | null;
  queueingP95S: number | null;
  bottleneck: string | null;
  timeouts: number;
  meanRttS: number | null;
  simulatedS: number;
  resultHash: string;
  flows: FlowOutcome[];
  /** The rate of the slowest link direction on the way of all flows, if they have one in common whose rate stays. */
  capacityBps: number | null;
  curves: Curves;
}

/** A flow, or the leg of one, in the summary of a run. */
interface Sender {
  name: string;
  flow?: string;
  leg?: number;
  bottleneck: string | null;
  congestion: string;
  goodput_bps: number;
  delivered_bytes: number;
  start_s: number;
  finish_s: number | null;
  sent_segments: number;
  retransmitted_segments: number;
  timeouts: number;
  min_rtt_s: number | null;
  mean_rtt_s: number | null;
}

interface LinkSummary {
  name: string;
  rate_bps: number | null;
  data_packets?: number;
  mean_wait_s?: number;
  p95_wait_s?: number;
}

/** A summary as `lightlag run --json` prints it. */
interface Summary {
  flows: Sender[];
  links: LinkSummary[];
  legs?: Sender[];
  seed: number;
  simulated_s: number;
  result_hash: string;
}

export const UDP = "udp";

/** The outcome of a run with this summary, whose trace was gathered. */
export function outcomeOf(given: Record<string, unknown>, trace: Gathering): Outcome {
  const summary = given as unknown as Summary;
  const tcp = summary.flows.filter(({ congestion }) => congestion !== UDP);
  const flows = tcp.length > 0 ? tcp : summary.flows;
  const senders = flows.map((flow) => longestLeg(summary, flow));
  const start = Math.min(...flows.map(({ start_s }) => start_s));
  const seconds = Math.max(...flows.map(({ finish_s }) => finish_s ?? summary.simulated_s)) - start;
  const sent = total(senders, "sent_segments");
  const trips = senders.map(({ mean_rtt_s }) => mean_rtt_s).filter((trip) => trip !== null);
  const bottleneck = bottleneckOf(summary.links);
  return {
    seed: summary.seed,
    goodputBps: seconds > 0 ? (8 * total(flows, "delivered_bytes")) / seconds : 0,
    completionS: flows.every(({ finish_s }) => finish_s !== null) ? seconds : null,
    jain: jain(flows.map(({ goodput_bps }) => goodput_bps)),
    retransmittedShare: sent > 0 ? total(senders, "retransmitted_segments") / sent : 0,
    queueingMeanS: bottleneck?.mean_wait_s ?? null,
    queueingP95S: bottleneck?.p95_wait_s ?? null,
    bottleneck: bottleneck?.name ?? null,
    timeouts: total(senders, "timeouts"),
    meanRttS: trips.length > 0 ? mean(trips) : null,
    simulatedS: summary.simulated_s,
    resultHash: summary.result_hash,
    flows: summary.flows.map((flow) => ({
      name: flow.name,
      congestion: flow.congestion,
      goodputBps: flow.goodput_bps,
      completionS: flow.finish_s === null ? null : flow.finish_s - flow.start_s,
      minRttS: minRtt(summary, flow),
    })),
    capacityBps: capacity(summary),
    curves: trace.curves(summary.simulated_s, longestLegs(summary)),
  };
}

function legsOf({ legs = [] }: Summary, { name }: Sender): Sender[] {
  return legs.filter(({ flow }) => flow === name);
}

function minRtt(summary: Summary, flow: Sender): number | null {
  const legs = legsOf(summary, flow);
  const trips = (legs.length > 0 ? legs : [flow]).map(({ min_rtt_s }) => min_rtt_s);
  return trips.reduce<number | null>((all, trip) => (all === null || trip === null ? null : all + trip), 0);
}

/** The numbers of the longest legs of flows that proxies split. */
function longestLegs(summary: Summary): Map<string, number> {
  const found = new Map<string, number>();
  for (const flow of summary.flows) {
    const { leg } = longestLeg(summary, flow);
    if (leg !== undefined) {
      found.set(flow.name, leg);
    }
  }
  return found;
}

function capacity({ flows, links }: Summary): number | null {
  const names = new Set(flows.flatMap(({ bottleneck }) => bottleneck ?? []));
  const [only] = names.size === 1 ? names : [];
  return links.find(({ name }) => name === only)?.rate_bps ?? null;
}

/** Where proxies split a flow, the sender with the largest round trip counts. */
function longestLeg(summary: Summary, flow: Sender): Sender {
  const legs = legsOf(summary, flow);
  return legs.reduce((best, leg) => ((leg.min_rtt_s ?? 0) > (best.min_rtt_s ?? 0) ? leg : best), legs[0] ?? flow);
}

/** The link direction at which data packets waited longest in all. */
function bottleneckOf(links: LinkSummary[]): LinkSummary | undefined {
  const wait = (link: LinkSummary) => (link.mean_wait_s ?? 0) * (link.data_packets ?? 0);
  const there = links.filter(({ data_packets }) => data_packets);
  return there.reduce<LinkSummary | undefined>(
    (best, link) => (best && wait(best) >= wait(link) ? best : link),
    undefined,
  );
}

/** Jain's fairness index: 1 if all are equal, 1/n if one has everything. */
export function jain(shares: readonly number[]): number {
  const squares = exactSum(shares.map((share) => share * share));
  return squares > 0 ? exactSum(shares) ** 2 / (shares.length * squares) : Number.NaN;
}

function total(senders: Sender[], key: "sent_segments" | "retransmitted_segments" | "timeouts" | "delivered_bytes") {
  return senders.reduce((sum, sender) => sum + sender[key], 0);
}

/** Whether another run, of another seed, measured exactly the same. */
export function isSame(one: Outcome, other: Outcome): boolean {
  const told = (outcome: Outcome) => JSON.stringify({ ...outcome, seed: 0, resultHash: "", curves: null });
  return told(one) === told(other);
}
