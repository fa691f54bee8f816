/** A run from its start to its end, with all of its tables. */

import { engine } from "../engine/here.ts";
import { type Asked, type Door, EngineError, type Finished, type Started } from "../engine/protocol.ts";
import type { NameLists } from "./sheet.ts";

export interface WholeRun extends Finished, NameLists {
  seed: number;
}

/** Events after which the engine answers, so that a run can be cancelled. */
const EVENTS = 2_000_000;

export interface Wishes {
  seed?: number | undefined;
  /** Whether packets are captured: at both ends of every flow, unless the scenario names places. */
  captures?: boolean;
  /** Ends the run. */
  signal?: AbortSignal;
}

/**
 * Runs a scenario in an engine of its own.
 *
 * @throws {EngineError} what the engine says of the scenario or of the run
 */
export async function wholeRun(asked: Asked, wishes: Wishes = {}, open: () => Door = engine): Promise<WholeRun> {
  const own = open();
  wishes.signal?.addEventListener("abort", () => own.close(), { once: true });
  try {
    const started = await own.ask({
      op: "start",
      ...(wishes.captures ? await withCaptures(own, asked) : asked),
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

/** The scenario with captures, which it may have by itself. */
async function withCaptures(own: Door, asked: Asked): Promise<Asked> {
  const { scenario } = await own.ask({ op: "check", ...asked });
  const record = scenario?.record as { pcap?: unknown } | undefined;
  return record?.pcap ? asked : { ...asked, sets: [...(asked.sets ?? []), ["record.pcap", "{}"]] };
}
