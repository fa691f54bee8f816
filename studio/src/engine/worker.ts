/// <reference lib="webworker" />

import { type FromWorker, type Held, Serving, type ToWorker } from "./serving.ts";
import { Instance } from "./wasm.ts";

const scope = self as unknown as DedicatedWorkerGlobalScope;
let serving: Serving | undefined;
let turn: Promise<void> = Promise.resolve();

scope.navigator.locks?.request(scope.name, () => {
  scope.postMessage({ held: true } satisfies Held);
  return new Promise(() => undefined);
});

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "open") {
    serving = new Serving(async () => {
      const engine = await Instance.of(data.module);
      engine.ask(JSON.stringify({ op: "schema", schema: data.schema }));
      return engine;
    });
    return;
  }
  turn = turn.then(async () => {
    const reply: FromWorker = serving
      ? await serving.answer(data.id, data.request)
      : { id: data.id, message: "the engine was not opened" };
    scope.postMessage(reply, "answer" in reply ? [reply.answer] : []);
  });
};
