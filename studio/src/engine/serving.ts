/** Serves requests in a worker one after another, with a new engine after a trap. */

import type { Request } from "./protocol.ts";

/** Messages to a worker. */
export type ToWorker =
  | { kind: "open"; module: WebAssembly.Module; schema: unknown }
  | { kind: "ask"; id: number; request: Request };

/**
 * Message that a worker sends once, when it holds the lock of its name. The lock is released when the worker ends for
 * any reason.
 */
export interface Held {
  held: true;
}

/** Messages from a worker: a response, or an error. */
export type FromWorker = { id: number; answer: ArrayBuffer } | { id: number; message: string };

/** An engine that takes JSON and returns bytes. */
export interface Asks {
  ask(request: string): ArrayBuffer;
}

/** Serves requests with an engine from `make`, and makes another after a trap. */
export class Serving {
  private engine: Promise<Asks> | undefined;

  constructor(private readonly make: () => Promise<Asks>) {}

  async answer(id: number, request: Request): Promise<FromWorker> {
    try {
      this.engine ??= this.make();
      const engine = await this.engine;
      return { id, answer: engine.ask(JSON.stringify(request)) };
    } catch (error) {
      this.engine = undefined;
      return { id, message: reason(error) };
    }
  }
}

function reason(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) {
    return `the engine stopped (${error.message}); it was replaced, and open runs are lost`;
  }
  if (error instanceof RangeError) {
    return `the engine is out of memory (${error.message}); it was replaced`;
  }
  return error instanceof Error ? error.message : String(error);
}
