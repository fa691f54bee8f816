/** Messages between the page and the worker of a run. */

import type { Account } from "../engine/analysis.ts";
import type { Problem, ScenarioInput, Started, Summary, Watch } from "../engine/protocol.ts";
import type { Address } from "../engine/socket.ts";
import type { PageFlow } from "../save/pages.ts";

/** Request for the points of a line in a chart between two times. */
export interface Query {
  /** Source table. `goodput` is computed from the trace: new payload as it arrives, per interval. */
  table: "trace" | "queue" | "goodput";
  /** Column of the table; for `goodput` it is `goodput_bps`. */
  column: string;
  /** Index of the flow or the link. */
  of: number;
  from_s: number;
  to_s: number;
  /** Maximum number of points. */
  points: number;
}

/** Request for the losses between two times, merged into at most `points` positions. */
export interface LossQuery {
  from_s: number;
  to_s: number;
  points: number;
}

/**
 * Losses by time: at time `x`, `count` packets of the given flow were dropped at the given link for the given cause.
 */
export interface Losses {
  x: Float64Array;
  count: Uint32Array;
  flow: Uint32Array;
  link: Uint32Array;
  cause: Uint8Array;
  causes: string[];
}

/** States of a sender: start times, each with the index of a state. */
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

/** The recorded queue of a link, in packets. */
export interface QueueSoFar {
  link: number;
  /** Length in the newest record; NaN where the scenario records no queues. */
  now: number;
  /** Maximum length. */
  most: number;
  /** Packets that were dropped there, ACKs included. */
  dropped: number;
}

/** The state of the flows and queues of a run. */
export interface Texts {
  standings: Standing[];
  queues: QueueSoFar[];
  /** Decimation of the tables, as text; empty while they are complete. */
  thinned: string;
  /** The rows that a single step recorded, as text. */
  happened: string[];
}

export interface Result {
  /** The summary printed by `lightlag run --json`. */
  summary: Summary;
  /** Reason for the speed of the run. */
  account: Account;
  /** Flows that loaded pages from files, with their loads, except loads without an object that arrived. */
  pages: PageFlow[];
  /** Reason of an early end, if any. */
  failed?: string;
  /** Computing time of the engine, in seconds. */
  engine_s: number;
}

/** Messages to the worker. */
export type ToCourse =
  | { kind: "open"; module: WebAssembly.Module; schema: unknown }
  /** Opens the engine of `lightlag studio`. The WebAssembly module analyses the results. */
  | { kind: "open"; address: Address; module: WebAssembly.Module }
  /** `skip_s` is the time that is reached at full speed, before the pace applies. */
  | { kind: "start"; input: ScenarioInput; seed?: number; packets?: Watch; skip_s?: number }
  /** Seconds of the run per second; `Infinity` for maximum speed. */
  | { kind: "pace"; speed: number }
  | { kind: "go"; how: "on" | "to the next loss" | "one step" }
  | { kind: "pause" }
  /** Whether the results of steps are used. */
  | { kind: "listen"; wants: boolean }
  | { kind: "ask"; id: number; query: Asks };

export type Asks =
  | { what: "series"; query: Query }
  | { what: "losses"; query: LossQuery }
  | { what: "states"; flow: number }
  | { what: "page"; flow: number; page: number };

/** Messages from the worker. */
export type FromCourse =
  | { kind: "started"; started: Started }
  | { kind: "refused"; problems: Problem[] }
  | { kind: "stepped"; answer: ArrayBuffer; events: number }
  | {
      kind: "news";
      now_s: number;
      state: "paused" | "running";
      /** Reported less often than the time. */
      texts?: Texts;
    }
  | { kind: "finished"; result: Result; now_s: number }
  | { kind: "failed"; message: string }
  | { kind: "answer"; id: number; answer: unknown }
  | { kind: "no answer"; id: number; message: string };
