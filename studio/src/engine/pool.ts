/** Several engines that share work. */

import { type Door, FullError } from "./protocol.ts";

/** Assigns jobs to engines: one engine works on one job at a time, and jobs start in the order of their calls. */
export class Pool {
  private readonly free: Door[];
  private readonly queue: ((engine: Door) => void)[] = [];
  /** Number of engines, active or free. */
  private there: number;

  constructor(private readonly engines: readonly Door[]) {
    this.free = [...engines];
    this.there = engines.length;
  }

  get size(): number {
    return this.engines.length;
  }

  /**
   * Does a job, such as a complete run, with an engine reserved for it. An engine that does not fit into memory leaves
   * the pool, and the job gets another.
   *
   * @throws {FullError} if no engine fits into memory
   */
  async use<T>(job: (engine: Door) => Promise<T>): Promise<T> {
    for (;;) {
      const engine = this.free.pop() ?? (await new Promise<Door>((ready) => this.queue.push(ready)));
      let isThere = true;
      try {
        return await job(engine);
      } catch (error) {
        if (!(error instanceof FullError) || this.there === 1) {
          throw error;
        }
        this.there--;
        isThere = false;
      } finally {
        if (isThere) {
          this.giveBack(engine);
        }
      }
    }
  }

  close(): void {
    for (const engine of this.engines) {
      engine.close();
    }
  }

  private giveBack(engine: Door): void {
    const next = this.queue.shift();
    if (next) {
      next(engine);
    } else {
      this.free.push(engine);
    }
  }
}
