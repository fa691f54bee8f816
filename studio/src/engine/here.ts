/** The engines of this page: where the module and the schema lie, and how a worker is opened. */

import { analyseWith } from "./analysis.ts";
import { Engine, type Line, type Parts } from "./client.ts";
import { Pool } from "./pool.ts";
import { compiled, Instance } from "./wasm.ts";

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
  analyseWith(await Instance.of(module));
  return { module, schema };
}

/** The module and the schema, fetched once; the page can analyse results from then on. */
export function shared(): Promise<Parts> {
  parts ??= fetched().catch((error) => {
    parts = undefined;
    throw error;
  });
  return parts;
}

let lines = 0;

/** A name for a worker, which it holds as a lock, so that its end is noticed even where the browser tells nobody. */
export function nameOfLine(): string {
  return `lightlag ${lines++} ${crypto.randomUUID?.() ?? Math.random()}`;
}

/** Gives a worker that has said that it holds the lock of its name an error when it is killed. */
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

/** An engine of one's own. */
export function engine(): Engine {
  return new Engine(shared, line);
}

/** As many engines as are useful here, one core left to the page. */
export function pool(most = Math.max(1, (navigator.hardwareConcurrency || 2) - 1)): Pool {
  return new Pool(Array.from({ length: most }, engine));
}
