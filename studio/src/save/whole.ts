/** A complete run with all of its tables. */

import { engine } from "../engine/here.ts";
import { type Door, EngineError, type Finished, type ScenarioInput, type Started } from "../engine/protocol.ts";
import type { NameLists } from "./sheet.ts";

export interface WholeRun extends Finished, NameLists {
  seed: number;
}

/** Events between two responses of the engine, so that a run can be cancelled. */
const EVENTS = 2_000_000;

export interface Wishes {
  seed?: number | undefined;
  /** Whether packets are captured: at both endpoints of every flow, unless the scenario names points of capture. */
  captures?: boolean;
  /** Signal that cancels the run. */
  signal?: AbortSignal;
}

/**
 * Runs a scenario in an engine of its own.
 *
 * @throws {EngineError} the engine's error for the scenario or the run
 */
export async function wholeRun(
  input: ScenarioInput,
  wishes: Wishes = {},
  open: () => Door = engine,
): Promise<WholeRun> {
  const own = open();
  wishes.signal?.addEventListener("abort", () => own.close(), { once: true });
  try {
    const started = await own.ask({
      op: "start",
      ...(wishes.captures ? await withCaptures(own, input) : input),
      ...chosen(wishes),
    });
    refuse(started);
    const { run, end_s, flows, links, nodes, seed } = started;
    for (let over = false; !over; ) {
      ({ over } = await own.ask({ op: "step", run, until_s: end_s, events: EVENTS }));
    }
    const finished = await own.ask({ op: "finish", run, whole: true });
    if (finished.failed) {
      throw new EngineError(finished.failed);
    }
    return { ...finished, seed, flows, links, nodes };
  } finally {
    own.close();
  }
}

function chosen({ seed, captures }: Wishes): { seed?: number; captures?: boolean } {
  return { ...(seed === undefined ? {} : { seed }), ...(captures ? { captures } : {}) };
}

function refuse({ errors }: Started): void {
  if (errors) {
    throw new EngineError(errors.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; "));
  }
}

/** Returns the scenario with captures, which it may already have. */
async function withCaptures(own: Door, input: ScenarioInput): Promise<ScenarioInput> {
  const { scenario } = await own.ask({ op: "check", ...input });
  const record = scenario?.record as { pcap?: unknown } | undefined;
  return record?.pcap ? input : { ...input, sets: [...(input.sets ?? []), ["record.pcap", "{}"]] };
}
