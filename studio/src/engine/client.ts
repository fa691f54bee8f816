/** An engine in a worker of the page. */

import { type AnswerTo, type Door, decode, EngineError, type Request } from "./protocol.ts";
import type { FromWorker, Held, ToWorker } from "./serving.ts";

/** The part of a worker's interface that is used here, so that tests can replace it. */
export interface Line {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker | Held>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

/** Parts that each engine of the page needs, fetched once. */
export interface Parts {
  module: WebAssembly.Module;
  schema: unknown;
}

interface Waiting {
  settle(answer: unknown): void;
  refuse(error: EngineError): void;
}

/** An engine in a worker. A worker that died is replaced at the next request. */
export class Engine implements Door {
  private line: Promise<Line> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private isClosed = false;

  constructor(
    private readonly parts: () => Promise<Parts>,
    private readonly open: () => Line,
  ) {}

  async ask<R extends Request>(request: R): Promise<AnswerTo<R>> {
    if (this.isClosed) {
      throw new EngineError("the engine is closed");
    }
    this.line ??= this.opened();
    let line: Line;
    try {
      line = await this.line;
    } catch (error) {
      this.line = undefined;
      throw new EngineError(`the engine does not start: ${error instanceof Error ? error.message : error}`);
    }
    const id = this.next++;
    return new Promise((settle, refuse) => {
      this.waiting.set(id, { settle: settle as (answer: unknown) => void, refuse });
      line.postMessage({ kind: "ask", id, request });
    });
  }

  /** Number of pending requests. */
  get load(): number {
    return this.waiting.size;
  }

  /** Ends the worker and its current work. The next request gets a new one. */
  stop(why = "the engine was stopped"): void {
    const end = (line: Line) => {
      line.onmessage = null;
      line.onerror = null;
      line.terminate();
    };
    void this.line?.then(end, () => undefined);
    this.line = undefined;
    this.refuseAll(why);
  }

  close(): void {
    this.isClosed = true;
    this.stop("the engine is closed");
  }

  private async opened(): Promise<Line> {
    const parts = await this.parts();
    const line = this.open();
    line.onmessage = ({ data }) => {
      if ("id" in data) {
        this.receive(data);
      }
    };
    line.onerror = (event) => {
      const why = event.message ? ` (${event.message})` : "";
      this.stop(`the engine's worker ended${why}; the next request starts a new one, and open runs are lost`);
    };
    line.postMessage({ kind: "open", ...parts });
    return line;
  }

  private receive(reply: FromWorker): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if (!waiting) {
      return;
    }
    if ("message" in reply) {
      waiting.refuse(new EngineError(reply.message));
      return;
    }
    try {
      waiting.settle(decode(reply.answer));
    } catch (error) {
      waiting.refuse(error instanceof EngineError ? error : new EngineError(String(error)));
    }
  }

  private refuseAll(why: string): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { refuse } of all) {
      refuse(new EngineError(why));
    }
  }
}
