/** Several engines that share work. */

import { type Door, FullError } from "./protocol.ts";

/** Gives jobs to engines: one engine works on one job at a time, and jobs start in the order in which they came. */
export class Pool {
  private readonly free: Door[];
  private readonly queue: ((engine: Door) => void)[] = [];
  /** Engines that work or are free. */
  private there: number;

  constructor(private readonly engines: readonly Door[]) {
    this.free = [...engines];
    this.there = engines.length;
  }

  get size(): number {
    return this.engines.length;
  }

  /**
   * Does a job, such as a whole run, with an engine that nobody else uses meanwhile. An engine for which there is no room has no
   * part any more, and the job goes to another.
   *
   * @throws {FullError} if there is room for none
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
