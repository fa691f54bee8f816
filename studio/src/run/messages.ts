/** What the page and the worker of a run tell each other. */

import type { Account } from "../engine/analysis.ts";
import type { Asked, Problem, Started, Watch } from "../engine/protocol.ts";
import type { Address } from "../engine/socket.ts";

/** Points of a line between two times. */
export interface Query {
  /** `goodput` is made of the trace: payload as it arrives, each byte once, in intervals. */
  table: "trace" | "queue" | "goodput";
  /** A column of the table; `goodput_bps` of `goodput`. */
  column: string;
  /** Number of the flow or the link. */
  of: number;
  from_s: number;
  to_s: number;
  /** The most points. */
  points: number;
}

/** Losses between two times, thinned so that no more than `points` places have some. */
export interface LossQuery {
  from_s: number;
  to_s: number;
  points: number;
}

/** Losses by time: at `x`, `count` packets of the flow with this number, dropped at the link for the cause. */
export interface Losses {
  x: Float64Array;
  count: Uint32Array;
  flow: Uint32Array;
  link: Uint32Array;
  cause: Uint8Array;
  causes: string[];
}

/** States of a sender: from each time on, a state by its number. */
export interface States {
  from_s: Float64Array;
  state: Uint8Array;
  names: string[];
}

/** The state of a flow at this time. */
export interface Standing {
  flow: number;
  goodput_bps: number;
  cwnd_segments: number;
  srtt_s: number;
  lost: number;
  state: string;
}

/** The queue of a link as far as it is recorded, in packets. */
export interface QueueSoFar {
  link: number;
  /** Length in the newest record; NaN where the scenario records no queues. */
  now: number;
  /** Maximum length. */
  most: number;
  /** Packets that were dropped there, ACKs included. */
  dropped: number;
}

export interface Result {
  /** As `lightlag run --json` prints it. */
  summary: Summary;
  /** Why the run was as fast as it was. */
  account: Account;
  /** Why it ended before its time, if it did. */
  failed?: string;
  /** Seconds that the engine computed. */
  engine_s: number;
}

export interface Summary {
  result_hash: string;
  seed: number;
  version: string;
  simulated_s: number;
  events: number;
  packet_hops: number;
  flows: FlowSummary[];
  links: LinkSummary[];
  legs?: LegSummary[];
  scenario: { name?: string; record: { trace: string; queue: string; drops?: boolean } };
}

export interface Sender {
  limited_s: Record<string, number>;
  min_rtt_s: number | null;
  mean_rtt_s: number | null;
  mean_cwnd_segments: number;
  delivered_bytes: number;
  sent_segments: number;
  retransmitted_segments: number;
  recoveries: number;
  timeouts: number;
  start_s: number | null;
  leg?: number;
}

export interface FlowSummary extends Sender {
  name: string;
  from: string;
  to: string;
  congestion: string;
  bottleneck: string | null;
  start_s: number;
  finish_s: number | null;
  failure?: string;
  goodput_bps: number;
}

export interface LegSummary extends Sender {
  flow: string;
  leg: number;
  from: string;
  to: string;
}

export interface LinkSummary {
  name: string;
  rate_bps: number | null;
  utilisation: number;
  mean_queue_packets: number;
  max_queue_packets: number;
}

/** To the worker. */
export type ToCourse =
  | { kind: "open"; module: WebAssembly.Module; schema: unknown }
  /** The engine behind `lightlag studio`, and the module, which analyses. */
  | { kind: "open"; address: Address; module: WebAssembly.Module }
  | { kind: "start"; asked: Asked; seed?: number; packets?: Watch }
  /** Seconds of the run in a second; `Infinity`: as fast as it goes. */
  | { kind: "pace"; speed: number }
  | { kind: "go"; how: "on" | "to the next loss" | "one step" }
  | { kind: "pause" }
  /** Whether the answers to steps are of use. */
  | { kind: "listen"; wants: boolean }
  | { kind: "ask"; id: number; query: Asks };

export type Asks =
  | { what: "series"; query: Query }
  | { what: "losses"; query: LossQuery }
  | { what: "states"; flow: number };

/** From the worker. */
export type FromCourse =
  | { kind: "started"; started: Started }
  | { kind: "refused"; problems: Problem[] }
  | { kind: "stepped"; answer: ArrayBuffer; events: number }
  | {
      kind: "news";
      now_s: number;
      state: "paused" | "running";
      standings: Standing[];
      queues: QueueSoFar[];
      /** By how much tables are thinned, in words; empty while they are whole. */
      thinned: string;
      /** The rows that a single step recorded, in words. */
      happened: string[];
    }
  | { kind: "finished"; result: Result; now_s: number }
  | { kind: "failed"; message: string }
  | { kind: "answer"; id: number; answer: unknown }
  | { kind: "no answer"; id: number; message: string };
