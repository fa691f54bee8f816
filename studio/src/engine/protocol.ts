/** Requests to the engine, its responses, and their binary form. */

import type { Curves, OutcomeOfRun } from "../compare/outcome.ts";
import type { Chart } from "../save/report/charts.ts";
import type { Recorded, Summed } from "./results.gen.ts";

/** A scenario with the files that it names, in base 64, and changes in the form of `--set`. */
export interface ScenarioInput {
  toml: string;
  files?: Record<string, string>;
  sets?: [path: string, value: string][];
}

/** Packets reported by a run, one row per hop of each copy. */
export interface Watch {
  from_s?: number;
  to_s?: number;
  flow?: number;
  /** Maximum number of rows of a step. */
  most: number;
}

export interface Requests {
  about: { op: "about" };
  schema: { op: "schema"; schema: unknown };
  check: { op: "check" } & ScenarioInput;
  edit: { op: "edit"; toml: string; path: string; value: unknown };
  write: { op: "write"; scenario: unknown };
  /** A capture in base 64. */
  inspect: { op: "inspect"; data: string };
  network: { op: "network" } & ScenarioInput;
  start: { op: "start"; seed?: number; packets?: Watch; captures?: boolean } & ScenarioInput;
  step: { op: "step"; run: number; until_s: number; events?: number };
  finish: { op: "finish"; run: number; whole?: boolean; compared?: boolean };
  close: { op: "close"; run: number };
  sky: { op: "sky" } & ScenarioInput;
  flight: { op: "flight" } & ScenarioInput;
  places_at: { op: "places_at"; place: number; time_s: number };
  courses: { op: "courses"; place: number; from: number; to: number; until_s: number };
  /** A request that the analysis crate answers. */
  analyse: { op: "analyse"; request: object };
  leave: { op: "leave"; place: number };
}

export type Op = keyof Requests;
export type Request = Requests[Op];

/** An error in a scenario. Positions count in UTF-16 units of its text. */
export interface Problem {
  path: string;
  message: string;
  from?: number;
  to?: number;
}

/** A warning about a scenario. */
export interface Advice extends Problem {
  kind: string;
}

/** Description of a congestion control algorithm, returned by `about`. */
export interface Algorithm {
  name: string;
  about: string;
  equations: string[];
  parameters: { name: string; default: string; meaning: string; range: string; unit: string }[];
  provenance: string;
  source: string;
}

export interface About {
  version: string;
  congestion: Algorithm[];
  profiles: [name: string, settings: Record<string, unknown>][];
  warnings: [kind: string, about: string][];
  dictionary: unknown[];
}

export interface Checked {
  errors: Problem[];
  warnings: Advice[];
  /** The complete scenario with its defaults. */
  scenario?: Scenario;
  links?: number;
  flows?: number;
  memory_bytes?: number;
  is_random?: boolean;
}

export type Scenario = Record<string, unknown>;

export interface NetworkNode {
  name: string;
  kind: "host" | "router" | "radio" | "station" | "satellite";
  at?: [x: number, y: number, z: number];
}

export interface NetworkLink {
  name: string;
  from: number;
  to: number;
  rate_bps: number;
  delay_s: number;
}

export interface NetworkFlow {
  name: string;
  from: number;
  to: number;
  congestion?: string;
  transport: string;
  start_s: number;
  transfer_bytes: number | null;
  /** Nodes of its path at the start of the run. */
  way: number[] | null;
}

export interface Network {
  errors?: Problem[];
  nodes: NetworkNode[];
  links: NetworkLink[];
  media: { name: string; nodes: number[] }[];
  flows: NetworkFlow[];
  proxies: number[];
  sky: { first: number; satellites: number; stations: number[] } | null;
  /** Counts of the items left out of a large network. */
  more: { nodes: number; links: number; flows: number };
}

export interface Started {
  errors?: Problem[];
  run: number;
  end_s: number;
  seed: number;
  flows: string[];
  links: string[];
  nodes: string[];
}

export interface Stepped {
  now_s: number;
  events: number;
  over: boolean;
  tables: Tables;
}

/** The summary of a run, as `lightlag run --json` prints it. Tables without rows are left out, except flows and links. */
export interface Summary extends Pick<Summed, "flows" | "links">, Partial<Omit<Summed, "flows" | "links">> {
  scenario: Scenario & { name?: string; record: { trace: string; queue: string; drops?: boolean } };
  seed: number;
  version: string;
  simulated_s: number;
  events: number;
  packet_hops: number;
  expired_packets?: number;
  result_hash: string;
}

export interface Finished {
  summary: Summary;
  interrupted: boolean;
  failed?: string;
  /** Charts of its report, if the run is complete. */
  charts?: Chart[] | null;
  /** Outcome and curves, for runs of a comparison. */
  outcome?: [OutcomeOfRun, Curves] | null;
  tables: Tables;
  captures: { name: string; data: Uint8Array }[];
}

export interface Sky {
  errors?: Problem[];
  place: number;
  satellites: string[];
  stations: string[];
  start: string;
  interval_s: number;
  flows: { name: string; from: number; to: number }[];
  /** The paths of its flows, where a recording has them. */
  courses?: { flow: string; ways: { from_s: number; nodes: number[] }[] }[];
}

export interface Flight {
  errors?: Problem[];
  place: number;
  nodes: string[];
  /** Bounding box of all positions in metres, where a recording has them. */
  extent?: { least: [number, number, number]; most: [number, number, number] };
}

/** One direction of a connection in a capture. */
export interface Side {
  unique_bytes: number;
  payload_bytes: number;
  data_segments: number;
  retransmitted_segments: number;
  spurious_retransmissions: number;
  goodput_bps?: number | null;
  handshake?: { mss?: number | null } | null;
}

/** A connection in a capture. */
export interface Connection {
  number: number;
  client: string;
  server: string;
  duration_s: number;
  min_rtt_s?: number | null;
  forward: Side;
  backward: Side;
}

/** The engine's findings about a capture. */
export interface Findings {
  /** Delivery rate of the largest connection's data. */
  rate_bps?: number | null;
  connections: Connection[];
}

export interface Answers {
  about: About;
  schema: Record<string, never>;
  check: Checked;
  edit: { toml: string };
  write: { toml: string };
  inspect: Findings;
  network: Network;
  start: Started;
  step: Stepped;
  finish: Finished;
  close: Record<string, never>;
  sky: Sky;
  flight: Flight;
  places_at: { time_s: number; tables: Tables };
  courses: { courses: { from_s: number; nodes: number[] }[] };
  analyse: { answer: unknown };
  leave: Record<string, never>;
}

export type AnswerTo<R extends Request> = Answers[R["op"]];

/** An engine: in a worker of the page, or at the other end of a WebSocket. */
export interface Door {
  /** @throws {EngineError} the engine's error for a request that it rejects */
  ask<R extends Request>(request: R): Promise<AnswerTo<R>>;
  close(): void;
}

/** The engine's error for a request that it rejects. */
export class EngineError extends Error {
  override name = "EngineError";
}

/** Error: no memory is left for another engine. */
export class FullError extends EngineError {
  override name = "FullError";
}

export type Values = Float64Array | Uint32Array | Uint8Array;

export interface Column {
  values: Values;
  /** The list into which the values are indices, or the name of that list in the response to `start`. */
  names?: "flows" | "links" | "nodes" | string[];
}

export interface Table<Name extends string = string> {
  rows: number;
  columns: Partial<Record<Name, Column>>;
}

/**
 * Tables recorded by a run, packets of a {@link Watch}, and positions of nodes with the links between them at one
 * time.
 */
export type Tables = { [Name in keyof Recorded]?: Table<Recorded[Name]> } & {
  [Name in "packets" | "places" | "isls"]?: Table;
};

interface Head {
  error?: { message: string };
  tables?: Record<string, { rows: number; columns: HeadColumn[] }>;
  captures?: { name: string; at: number; bytes: number }[];
}

interface HeadColumn {
  name: string;
  type: "f64" | "u32" | "u8";
  at: number;
  names?: "flows" | "links" | "nodes" | string[];
}

/**
 * Reads a response: u32 LE length of the head, the head in JSON, zeros up to a multiple of 8, columns. The columns are
 * views into the buffer.
 *
 * @throws {EngineError} the message of an error response
 */
export function decode(answer: ArrayBuffer): unknown {
  if (answer.byteLength < 4) {
    throw new EngineError(`a response of ${answer.byteLength} bytes is too short; expected at least 4 bytes`);
  }
  const length = new DataView(answer).getUint32(0, true);
  if (4 + length > answer.byteLength) {
    throw new EngineError(`a response of ${answer.byteLength} bytes specifies a head of ${length} bytes`);
  }
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(answer, 4, length))) as Head;
  if (head.error) {
    throw new EngineError(head.error.message);
  }
  const data = Math.ceil((4 + length) / 8) * 8;
  const read: Record<string, unknown> = { ...head };
  if (head.tables) {
    read.tables = Object.fromEntries(
      Object.entries(head.tables).map(([name, { rows, columns }]) => [
        name,
        {
          rows,
          columns: Object.fromEntries(columns.map((column) => [column.name, columnOf(answer, data, rows, column)])),
        },
      ]),
    );
  }
  if (head.captures) {
    read.captures = head.captures.map(({ name, at, bytes }) => ({
      name,
      data: new Uint8Array(answer, data + at, bytes),
    }));
  }
  return read;
}

function columnOf(answer: ArrayBuffer, data: number, rows: number, { type, at, names }: HeadColumn): Column {
  const from = data + at;
  const values =
    type === "f64"
      ? new Float64Array(answer, from, rows)
      : type === "u32"
        ? new Uint32Array(answer, from, rows)
        : new Uint8Array(answer, from, rows);
  return names === undefined ? { values } : { values, names };
}
