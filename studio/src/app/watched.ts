/** A run as far as moving pictures need it. */

import type { ReadonlySignal } from "@preact/signals";
import type { Asked, Door, Tables } from "../engine/protocol.ts";

export interface Watched {
  /** The scenario that runs. */
  readonly asked: Asked;
  /** Names of its parts, and its end. */
  readonly started: Names;
  /** Whether the run tells packets. */
  readonly hasPackets: boolean;
  /** How often it was started; all that was told before is of an earlier run. */
  readonly round: ReadonlySignal<number>;
  /** Seconds of the run that are over. */
  readonly now: ReadonlySignal<number>;
  /** Its queues so far. */
  readonly queues: ReadonlySignal<{ link: number; now: number; most: number; dropped: number }[]>;
  /** Tells the rows of each step; the answer ends that. */
  onStep(listener: (step: { tables: Tables }) => void): () => void;
  /** What knows the places of its nodes, to be closed by whoever asked. */
  door(): Door;
  /** Goes to a time, where the whole run is over and recorded. */
  seek?(time_s: number): void;
}

export interface Names {
  flows: string[];
  links: string[];
  nodes: string[];
  end_s: number;
  seed: number;
}
