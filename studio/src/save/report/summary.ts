/** A run's summary as reports read it: that of `lightlag run --json`. */

import type { WholeRun } from "../whole.ts";

export interface FlowSummary {
  name: string;
  flow?: string;
  leg?: number;
  from: string;
  to: string;
  congestion: string;
  bottleneck: string | null;
  start_s: number;
  finish_s: number | null;
  goodput_bps: number;
  delivered_bytes: number;
  sent_segments: number;
  retransmitted_segments: number;
  timeouts: number;
  min_rtt_s: number | null;
  mean_rtt_s: number | null;
  mean_cwnd_segments: number;
  limited_s: Record<string, number>;
  failure?: string;
  datagrams?: Delays;
  messages?: Delays & { sent: number; dropped: number };
  responses?: Times;
  pages?: Times;
  signals?: { sent: number; received: number; local: number };
}

interface Delays {
  lost: number;
  mean_delay_s: number | null;
  p95_delay_s: number | null;
}

interface Times {
  count: number;
  mean_s: number | null;
  p95_s: number | null;
}

export interface LinkSummary {
  name: string;
  rate_bps: number | null;
  carried_bytes: number;
  utilisation: number;
  dropped_queue: number;
  dropped_error: number;
  dropped_outage: number;
  dropped_aqm: number;
  dropped_acks?: number;
  dropped_route?: number;
  withdrawn?: number;
  marked?: number;
  duplicated?: number;
  reordered?: number;
  repair_packets?: number;
  repaired?: number;
  mean_queue_packets: number;
  max_queue_packets: number;
}

/** The sender of one leg of a flow that proxies split. */
export interface LegSummary extends FlowSummary {
  flow: string;
  leg: number;
}

export interface ProxySummary {
  node: string;
  flow: string;
  congestion: string;
  acknowledged_bytes: number;
  lost_bytes: number;
  sent_segments: number;
  retransmitted_segments: number;
  timeouts: number;
  min_rtt_s: number | null;
  mean_buffer_bytes: number;
  max_buffer_bytes: number;
}

export interface InterfaceSummary {
  name: string;
  medium: string;
  utilisation: number;
  busy: number;
  sent_frames: number;
  aggregates: number;
  mpdus_per_aggregate: number | null;
  mean_queue_packets: number;
  retries: number;
  collisions: number;
  dropped_queue: number;
  dropped_retry: number;
  dropped_lifetime: number;
  dropped_no_route: number;
  routing_bytes: number;
  broken_links: number;
  route_changes: number;
}

export interface Summary {
  flows: FlowSummary[];
  links: LinkSummary[];
  legs: LegSummary[];
  proxies: ProxySummary[];
  interfaces: InterfaceSummary[];
  scenario: Record<string, unknown>;
  seed: number;
  simulated_s: number;
  result_hash: string;
  version: string;
  packet_hops: number;
}

export function summaryOf(run: Pick<WholeRun, "summary">): Summary {
  return { legs: [], proxies: [], interfaces: [], ...run.summary } as unknown as Summary;
}
