/** The engines of this page: addresses of the module and the schema, and the opening of workers. */

import { analyseWith } from "./analysis.ts";
import { Engine, type Line, type Parts } from "./client.ts";
import { Pool } from "./pool.ts";
import { compiled, Instance } from "./wasm.ts";

let parts: Promise<Parts> | undefined;

/** Resolves a name relative to the page's directory, so that the page works at any address. */
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
  analyseWith(await Instance.of(module));
  return { module, schema };
}

/** The module and the schema, fetched once; the page can analyse results afterwards. */
export function shared(): Promise<Parts> {
  parts ??= fetched().catch((error) => {
    parts = undefined;
    throw error;
  });
  return parts;
}

let lines = 0;

/**
 * Returns a name for a worker. The worker holds a lock of this name, so that its end is noticed even if the browser
 * does not report it.
 */
export function nameOfLine(): string {
  return `lightlag ${lines++} ${crypto.randomUUID?.() ?? Math.random()}`;
}

/** Dispatches an error event on a worker when it is killed, which releases the lock of its name. */
export function watchEnd(worker: Worker, name: string): void {
  worker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "object" && data !== null && "held" in data) {
      navigator.locks.request(name, () => worker.dispatchEvent(new ErrorEvent("error", { message: "it was killed" })));
    }
  });
}

function line(): Line {
  const name = nameOfLine();
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name });
  watchEnd(worker, name);
  return worker as unknown as Line;
}

/** Opens a separate engine. */
export function engine(): Engine {
  return new Engine(shared, line);
}

/** Returns a pool with a useful number of engines, which leaves one core to the page. */
export function pool(maxEngines = Math.max(1, (navigator.hardwareConcurrency || 2) - 1)): Pool {
  return new Pool(Array.from({ length: maxEngines }, engine));
}
