/** A run's summary as reports read it: that of `lightlag run --json`. */

import type { WholeRun } from "../whole.ts";

export interface FlowSummary {
  name: string;
  flow?: string;
  leg?: number;
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
}

export interface LinkSummary {
  name: string;
  rate_bps: number | null;
  carried_bytes: number;
  utilisation: number;
  dropped_queue: number;
  dropped_error: number;
  dropped_aqm: number;
  mean_queue_packets: number;
  max_queue_packets: number;
}

export interface LegSummary {
  flow: string;
  leg: number;
  min_rtt_s: number | null;
}

export interface Summary {
  flows: FlowSummary[];
  links: LinkSummary[];
  legs: LegSummary[];
  scenario: Record<string, unknown>;
  seed: number;
  simulated_s: number;
  result_hash: string;
  version: string;
  packet_hops: number;
}

export function summaryOf(run: Pick<WholeRun, "summary">): Summary {
  return { legs: [], ...run.summary } as unknown as Summary;
}
