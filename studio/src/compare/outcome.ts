/** The stored outcome of one run in a comparison. Its metrics leave out UDP flows, unless there are no others. */

export interface FlowOutcome {
  name: string;
  congestion: string;
  goodput_bps: number;
  completion_s: number | null;
  /** Minimum round-trip sample of the flow; if proxies split the flow, the sum over its legs. */
  min_rtt_s: number | null;
  /** The leg with the longest round trip, if proxies split the flow. */
  leg: { number: number; name: string } | null;
}

/** The values that the engine takes from a summary. */
export interface OutcomeOfRun {
  goodput_bps: number;
  completion_s: number | null;
  /** Jain's fairness index; null if no flow delivered data. */
  jain: number | null;
  retransmitted_share: number;
  queueing_mean_s: number | null;
  queueing_p95_s: number | null;
  bottleneck: string | null;
  timeouts: number;
  mean_rtt_s: number | null;
  flows: FlowOutcome[];
  /** The rate of the slowest link direction on the path of all flows, if they share one with a constant rate. */
  capacity_bps: number | null;
}

export interface Curves {
  /** Payload of all flows that had arrived, in bytes, at equal steps from 0 to the end; null where there is no trace. */
  arrived: number[] | null;
  /** Congestion windows of the first flows, in segments; if proxies split a flow, of its longest leg. */
  windows: [flow: string, times: number[], segments: (number | null)[]][];
}

export interface Outcome extends OutcomeOfRun {
  seed: number;
  simulated_s: number;
  result_hash: string;
  curves: Curves;
}

/** Returns true if another run, of another seed, has exactly the same outcome. */
export function isSame(outcome: Outcome, other: Outcome): boolean {
  const comparable = (run: Outcome) => JSON.stringify({ ...run, seed: 0, result_hash: "", curves: null });
  return comparable(outcome) === comparable(other);
}
