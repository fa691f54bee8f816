/** The runs of a comparison: paired seeds, spread over workers, each kept as soon as it has finished. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Pool } from "../engine/pool.ts";
import { type Asked, type Door, FullError, type Problem } from "../engine/protocol.ts";
import { Gathering } from "./curves.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** How often a run is made again whose worker died. */
const TRIES = 3;
/** Events after which the engine answers, so that a run elsewhere ends soon after it was cancelled. */
const EVENTS = 2_000_000;

/** One run to do. */
interface Job {
  key: string;
  asked: Asked;
  seed: number;
}

/** A variant as it runs: the scenario with its changes, and whether chance has a part in it. */
export interface Contestant {
  name: string;
  asked: Asked;
  isRandom: boolean;
}

/** As compared: each run also tells how long packets waited, as those of `lightlag compare` do. */
export function withWaits(asked: Asked): Asked {
  return { ...asked, sets: [...(asked.sets ?? []), ["record.queueing", "true"]] };
}

/** What tells a scenario with its changes from others. */
export function keyOf({ toml, files, sets }: Asked): string {
  return JSON.stringify([toml, files ?? {}, sets ?? []]);
}

export class Campaign {
  /** Finished runs by variant, then by seed. They stay when variants come and go. */
  readonly finished: Signal<ReadonlyMap<string, ReadonlyMap<number, Outcome>>> = signal(new Map());
  /** What went wrong, by variant. */
  readonly faults: Signal<ReadonlyMap<string, string>> = signal(new Map());
  readonly left: Signal<number> = signal(0);
  /** Runs that were made again because their worker died. */
  readonly again: Signal<number> = signal(0);
  readonly isRunning: ReadonlySignal<boolean> = computed(() => this.left.value > 0);
  private turn = 0;
  private pool: Pool | undefined;

  /** Its engines are there for as long as runs go on. */
  constructor(private readonly open: () => Pool) {}

  /** The finished runs of a variant with these seeds, in their order. */
  of(asked: Asked, seeds: readonly number[]): Outcome[] {
    const own = this.finished.value.get(keyOf(asked));
    return seeds.flatMap((seed) => own?.get(seed) ?? []);
  }

  /** Makes the runs that have not finished yet, seed by seed. Ends when all have, or at {@link cancel}. */
  async run(contestants: readonly Contestant[], seeds: readonly number[]): Promise<void> {
    this.cancel();
    const turn = this.turn;
    const jobs = this.missing(contestants, seeds);
    batch(() => {
      this.faults.value = new Map();
      this.left.value = jobs.length;
    });
    if (jobs.length === 0) {
      return;
    }
    const pool = this.open();
    this.pool = pool;
    const work = (job: Job) =>
      pool.use((engine) => this.work(engine, job, turn)).catch((error) => this.fail(job, turn, error));
    await Promise.all(jobs.map(work));
    pool.close();
  }

  /** Ends what is running. What has finished stays. */
  cancel(): void {
    this.turn++;
    this.left.value = 0;
    this.pool?.close();
    this.pool = undefined;
  }

  /** Forgets runs of other scenarios than these. */
  keep(toml: string): void {
    const kept = [...this.finished.peek()].filter(([key]) => (JSON.parse(key) as unknown[])[0] === toml);
    this.finished.value = new Map(kept);
  }

  private missing(contestants: readonly Contestant[], seeds: readonly number[]): Job[] {
    const jobs = new Map<string, Job>();
    for (const [at, seed] of seeds.entries()) {
      for (const { asked, isRandom } of contestants) {
        const key = keyOf(asked);
        if ((isRandom || at === 0) && !this.finished.peek().get(key)?.has(seed)) {
          jobs.set(`${seed} ${key}`, { key, asked, seed });
        }
      }
    }
    return [...jobs.values()];
  }

  private async work(engine: Door, job: Job, turn: number): Promise<void> {
    for (let tries = 1; turn === this.turn && !this.faults.peek().has(job.key); tries++) {
      try {
        const outcome = await whole(engine, job);
        if (turn === this.turn) {
          this.add(job, outcome);
        }
        return;
      } catch (error) {
        if (turn !== this.turn) {
          return;
        }
        if (error instanceof FullError) {
          throw error;
        }
        if (error instanceof ScenarioFault || tries === TRIES) {
          this.fail(job, turn, error);
          return;
        }
        this.again.value++;
      }
    }
    if (turn === this.turn) {
      this.left.value--;
    }
  }

  private add({ key, seed }: Job, outcome: Outcome): void {
    const own = new Map(this.finished.peek().get(key)).set(seed, outcome);
    batch(() => {
      this.finished.value = new Map(this.finished.peek()).set(key, own);
      this.left.value--;
    });
  }

  private fail({ key }: Job, turn: number, error: unknown): void {
    if (turn !== this.turn) {
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    batch(() => {
      this.faults.value = new Map(this.faults.peek()).set(key, message);
      this.left.value--;
    });
  }
}

/** A mistake in a scenario: no other try makes it good. */
class ScenarioFault extends Error {}

/** A whole run. */
async function whole(engine: Door, { asked, seed }: Job): Promise<Outcome> {
  const started = await engine.ask({ op: "start", ...withWaits(asked), seed });
  if (started.errors) {
    throw new ScenarioFault(started.errors.map(told).join("; "));
  }
  const { run, end_s, flows } = started;
  const trace = new Gathering(flows);
  for (let isOver = false; !isOver; ) {
    const { over, tables } = await engine.ask({ op: "step", run, until_s: end_s, events: EVENTS });
    trace.add(tables);
    isOver = over;
  }
  const { summary, failed, tables } = await engine.ask({ op: "finish", run });
  trace.add(tables);
  if (failed) {
    throw new ScenarioFault(failed);
  }
  return outcomeOf(summary, trace);
}

function told({ path, message }: Problem): string {
  return path ? `${path}: ${message}` : message;
}
