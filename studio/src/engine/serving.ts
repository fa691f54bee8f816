/** The work of a worker: requests in turn, and a fresh engine after a trap. */

import type { Request } from "./protocol.ts";

/** Messages to a worker. */
export type ToWorker =
  | { kind: "open"; module: WebAssembly.Module; schema: unknown }
  | { kind: "ask"; id: number; request: Request };

/** A worker says once that it holds the lock of its name, which is free again when it ends, however it ends. */
export interface Held {
  held: true;
}

/** Messages from a worker: an answer, or why there is none. */
export type FromWorker = { id: number; answer: ArrayBuffer } | { id: number; message: string };

/** An engine that takes JSON and gives bytes. */
export interface Asks {
  ask(request: string): ArrayBuffer;
}

/** Serves requests with an engine that `make` makes, and makes another when it has trapped. */
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
    return `the engine stopped (${error.message}); a fresh one has taken its place, and runs that were open are gone`;
  }
  if (error instanceof RangeError) {
    return `the engine has no memory left (${error.message}); a fresh one has taken its place`;
  }
  return error instanceof Error ? error.message : String(error);
}
