/** Starts runs of the page. */

import { elsewhere, live } from "../app/state.ts";
import { waysOf } from "../app/ways.ts";
import { nameOfLine, shared, watchEnd } from "../engine/here.ts";
import type { ScenarioInput } from "../engine/protocol.ts";
import type { Address } from "../engine/socket.ts";
import { type Choice, type CourseLine, Live } from "./live.ts";

/** A worker whose engine is ready for the next run, and the engine selected when it was opened. */
let spare: { worker: Promise<Worker>; engine: typeof elsewhere.value } | undefined;

/** Opens a worker before it is needed, so that the next run starts immediately. */
export function prepare(): void {
  const engine = elsewhere.peek();
  if (spare && spare.engine !== engine) {
    spare.worker.then(
      (worker) => worker.terminate(),
      () => undefined,
    );
    spare = undefined;
  }
  if (spare) {
    return;
  }
  const own = { worker: opened(engine?.address), engine };
  spare = own;
  const forget = () => {
    if (spare === own) {
      spare = undefined;
    }
  };
  // The caller that takes it gets the error.
  own.worker.then((worker) => worker.addEventListener("error", forget), forget);
}

async function line(): Promise<CourseLine> {
  prepare();
  const worker = await (spare as NonNullable<typeof spare>).worker;
  spare = undefined;
  return worker as unknown as CourseLine;
}

async function opened(address: Address | undefined): Promise<Worker> {
  const { module, schema } = await shared();
  const parts = address ? { address, module } : { module, schema };
  const name = nameOfLine();
  const worker = new Worker(new URL("./course.worker.ts", import.meta.url), { type: "module", name });
  watchEnd(worker, name);
  worker.postMessage({ kind: "open", ...parts });
  return worker;
}

/**
 * Creates a run that leaves the page's run alone; the caller stops it. It is paused at its start.
 *
 * @throws {Refused} if the scenario cannot run
 */
export async function separate(input: ScenarioInput, choice: Choice): Promise<Live> {
  const next = await Live.start(input, choice, line);
  if (next.started.nodes.length > 0) {
    waysOf(next);
  }
  return next;
}

/**
 * Creates a run, which replaces the previous one and is paused at its start.
 *
 * @throws {Refused} if the scenario cannot run
 */
export async function start(input: ScenarioInput, choice: Choice): Promise<Live> {
  live.peek()?.stop();
  live.value = null;
  const next = await Live.start(input, choice, line);
  live.peek()?.stop();
  if (next.started.nodes.length > 0) {
    // Changes of paths are reported once, so they are stored for animations that are opened later.
    waysOf(next);
  }
  live.value = next;
  return next;
}
