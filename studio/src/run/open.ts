/** Starts runs of the page. */

import { live } from "../app/state.ts";
import { nameOfLine, shared, watchEnd } from "../engine/here.ts";
import type { Asked } from "../engine/protocol.ts";
import { type Choice, type CourseLine, Live } from "./live.ts";

async function line(): Promise<CourseLine> {
  const parts = await shared();
  const name = nameOfLine();
  const worker = new Worker(new URL("./course.worker.ts", import.meta.url), { type: "module", name });
  watchEnd(worker, name);
  worker.postMessage({ kind: "open", ...parts });
  return worker as unknown as CourseLine;
}

/**
 * Starts a run, which takes the place of the last one and waits at its start.
 *
 * @throws {Refused} the mistakes of a scenario that does not run
 */
export async function start(asked: Asked, choice: Choice): Promise<Live> {
  live.peek()?.stop();
  live.value = null;
  const next = await Live.start(asked, choice, line);
  live.peek()?.stop();
  live.value = next;
  return next;
}
