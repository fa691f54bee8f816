/// <reference lib="webworker" />

import { analyseWith } from "../engine/analysis.ts";
import type { Address } from "../engine/socket.ts";
import { Instance } from "../engine/wasm.ts";
import { Course } from "./course.ts";
import type { FromCourse, ToCourse } from "./messages.ts";

const scope = self as unknown as DedicatedWorkerGlobalScope;
let course: Promise<Course> | undefined;

scope.navigator.locks?.request(scope.name, () => {
  scope.postMessage({ held: true });
  return new Promise(() => undefined);
});

/** Message channel with which the worker yields to its message queue, without the minimum delay of 4 ms of timers. */
const turns = new MessageChannel();
const resting: (() => void)[] = [];
turns.port1.onmessage = () => resting.shift()?.();

const around = {
  post: (message: FromCourse, transfer: ArrayBuffer[] = []) => scope.postMessage(message, transfer),
  clock: () => performance.now(),
  rest: (milliseconds: number) =>
    new Promise<void>((go) => {
      if (milliseconds > 0) {
        setTimeout(go, milliseconds);
      } else {
        resting.push(go);
        turns.port2.postMessage(0);
      }
    }),
};

scope.onmessage = async ({ data }: MessageEvent<ToCourse>) => {
  if (data.kind === "open") {
    course = "address" in data ? remote(data.address, data.module) : opened(data.module, data.schema);
    return;
  }
  try {
    await (await course)?.receive(data);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    around.post({ kind: "failed", message: `the engine does not start: ${message}` });
  }
};

async function opened(module: WebAssembly.Module, schema: unknown): Promise<Course> {
  const engine = await Instance.of(module);
  engine.ask(JSON.stringify({ op: "schema", schema }));
  analyseWith(engine);
  return new Course({ ask: (request) => engine.ask(JSON.stringify(request)) }, around);
}

async function remote(address: Address, module: WebAssembly.Module): Promise<Course> {
  analyseWith(await Instance.of(module));
  const { Remote } = await import("../engine/remote.ts");
  const engine = new Remote(address);
  return new Course({ ask: (request) => engine.bytes(request) }, around);
}
