/** The interface of a run that animations use. */

import type { ReadonlySignal } from "@preact/signals";
import type { Door, ScenarioInput, Tables } from "../engine/protocol.ts";

export interface Watched {
  /** The scenario that runs. */
  readonly input: ScenarioInput;
  /** Names of the run's flows, links and nodes, and its duration. */
  readonly started: Names;
  /** Whether the run reports packets. */
  readonly hasPackets: boolean;
  /** Number of times that the run was started. Reports from before the last start belong to an earlier run. */
  readonly round: ReadonlySignal<number>;
  /** Simulated seconds so far. */
  readonly now: ReadonlySignal<number>;
  /** The queues of its links so far. */
  readonly queues: ReadonlySignal<{ link: number; now: number; most: number; dropped: number }[]>;
  /** Passes the rows of each step to `listener` until the returned function is called. */
  onStep(listener: (step: { tables: Tables }) => void): () => void;
  /** Opens an engine that computes the positions of its nodes; the caller closes it. */
  door(): Door;
  /** Whether the run is over, so that it can be run again for the packets of a moment. */
  readonly isOver?: ReadonlySignal<boolean>;
  /** Returns the moments of one flow, or of all, that are worth seeing packet by packet, the first one first. */
  moments?(flow: number | undefined): Promise<Moment[]>;
  /** Returns the packet-hops per simulated second of the run, once it is over. */
  hopsPerSecond?(): number;
  /** Goes to a time, if the complete run is recorded. */
  seek?(time_s: number): void;
}

export interface Moment {
  kind: "loss" | "path" | "start";
  time_s: number;
  /** The flow concerned. */
  flow: number;
  /** Round-trip time of the flow then, in seconds, if it is known. */
  roundTrip_s: number | undefined;
}

export interface Names {
  flows: string[];
  links: string[];
  nodes: string[];
  end_s: number;
  seed: number;
}
