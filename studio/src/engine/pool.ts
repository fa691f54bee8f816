/** Several engines that share work. */

import type { Engine } from "./client.ts";

/** Gives jobs to engines: one engine works on one job at a time, and jobs start in the order in which they came. */
export class Pool {
  private readonly free: Engine[];
  private readonly queue: ((engine: Engine) => void)[] = [];

  constructor(private readonly engines: Engine[]) {
    this.free = [...engines];
  }

  get size(): number {
    return this.engines.length;
  }

  /** Does a job, such as a whole run, with an engine that nobody else uses meanwhile. */
  async use<T>(job: (engine: Engine) => Promise<T>): Promise<T> {
    const engine = this.free.pop() ?? (await new Promise<Engine>((ready) => this.queue.push(ready)));
    try {
      return await job(engine);
    } finally {
      const next = this.queue.shift();
      if (next) {
        next(engine);
      } else {
        this.free.push(engine);
      }
    }
  }

  /** Ends what all are doing. */
  stop(why?: string): void {
    for (const engine of this.engines) {
      engine.stop(why);
    }
  }

  close(): void {
    for (const engine of this.engines) {
      engine.close();
    }
  }
}
