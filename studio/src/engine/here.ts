/** The engines of this page: where the module and the schema lie, and how a worker is opened. */

import { Engine, type Line, type Parts } from "./client.ts";
import { Pool } from "./pool.ts";
import type { FromWorker, Held } from "./serving.ts";
import { compiled } from "./wasm.ts";

let parts: Promise<Parts> | undefined;

/** The page's folder, so that everything is found wherever it lies. */
export function address(name: string): URL {
  return new URL(name, document.baseURI);
}

/** The JSON Schema of scenarios, as `lightlag schema` prints it. */
export async function schemaOfScenarios(): Promise<unknown> {
  return (await shared()).schema;
}

async function fetched(): Promise<Parts> {
  const [module, schema] = await Promise.all([
    compiled(address("engine.wasm")),
    fetch(address("schema.json")).then((response) => response.json()),
  ]);
  return { module, schema };
}

function shared(): Promise<Parts> {
  parts ??= fetched().catch((error) => {
    parts = undefined;
    throw error;
  });
  return parts;
}

let lines = 0;

/** A worker. It holds a lock of its name, so that its end is noticed even where the browser tells nobody. */
function line(): Line {
  const name = `lightlag ${lines++} ${crypto.randomUUID?.() ?? Math.random()}`;
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name });
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker | Held>) => {
    if ("held" in data) {
      navigator.locks.request(name, () => worker.dispatchEvent(new ErrorEvent("error", { message: "it was killed" })));
    }
  });
  return worker as unknown as Line;
}

/** An engine of one's own. */
export function engine(): Engine {
  return new Engine(shared, line);
}

/** As many engines as are useful here, one core left to the page. */
export function pool(most = Math.max(1, (navigator.hardwareConcurrency || 2) - 1)): Pool {
  return new Pool(Array.from({ length: most }, engine));
}
