/** The runs of a comparison: paired seeds, distributed to workers, each stored when it finishes. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Pool } from "../engine/pool.ts";
import { type Door, FullError, type Problem, type ScenarioInput } from "../engine/protocol.ts";
import type { Outcome } from "./outcome.ts";

/** Maximum number of attempts of a run whose worker died. */
const TRIES = 3;
/** Events between two responses of the engine, so that a remote run ends soon after it was cancelled. */
const EVENTS = 2_000_000;

/** One pending run. */
interface Job {
  key: string;
  input: ScenarioInput;
  seed: number;
}

/** A variant as it runs: the scenario with its changes, and whether its runs are random. */
export interface Contestant {
  name: string;
  input: ScenarioInput;
  isRandom: boolean;
}

/** Returns the scenario with queueing delays recorded, as `lightlag compare` does. */
export function withWaits(input: ScenarioInput): ScenarioInput {
  return { ...input, sets: [...(input.sets ?? []), ["record.queueing", "true"]] };
}

/** Returns a key that distinguishes a scenario with its changes from others. */
export function keyOf({ toml, files, sets }: ScenarioInput): string {
  return JSON.stringify([toml, files ?? {}, sets ?? []]);
}

export class Campaign {
  /** Finished runs by variant, then by seed. They are retained when variants are removed. */
  readonly finished: Signal<ReadonlyMap<string, ReadonlyMap<number, Outcome>>> = signal(new Map());
  /** Errors by variant. */
  readonly faults: Signal<ReadonlyMap<string, string>> = signal(new Map());
  readonly left: Signal<number> = signal(0);
  /** Number of runs that were repeated because their worker died. */
  readonly again: Signal<number> = signal(0);
  readonly isRunning: ReadonlySignal<boolean> = computed(() => this.left.value > 0);
  private turn = 0;
  private pool: Pool | undefined;

  /** `open` opens the engines, which exist only while runs are in progress. */
  constructor(private readonly open: () => Pool) {}

  /** Returns the finished runs of a variant with these seeds, in their order. */
  of(input: ScenarioInput, seeds: readonly number[]): Outcome[] {
    const own = this.finished.value.get(keyOf(input));
    return seeds.flatMap((seed) => own?.get(seed) ?? []);
  }

  /** Executes the remaining runs, seed by seed. Returns when all have finished, or after {@link cancel}. */
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

  /** Cancels the active runs. Finished runs are retained. */
  cancel(): void {
    this.turn++;
    this.left.value = 0;
    this.pool?.close();
    this.pool = undefined;
  }

  /** Discards runs of all other scenarios. */
  keep(toml: string): void {
    const kept = [...this.finished.peek()].filter(([key]) => (JSON.parse(key) as unknown[])[0] === toml);
    this.finished.value = new Map(kept);
  }

  private missing(contestants: readonly Contestant[], seeds: readonly number[]): Job[] {
    const jobs = new Map<string, Job>();
    for (const [at, seed] of seeds.entries()) {
      for (const { input, isRandom } of contestants) {
        const key = keyOf(input);
        if ((isRandom || at === 0) && !this.finished.peek().get(key)?.has(seed)) {
          jobs.set(`${seed} ${key}`, { key, input, seed });
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

/** An error in a scenario, which a retry does not fix. */
class ScenarioFault extends Error {}

/** Executes a run from start to end. */
async function whole(engine: Door, { input, seed }: Job): Promise<Outcome> {
  const started = await engine.ask({ op: "start", ...withWaits(input), seed });
  if (started.errors) {
    throw new ScenarioFault(started.errors.map(told).join("; "));
  }
  const { run, end_s } = started;
  for (let isOver = false; !isOver; ) {
    isOver = (await engine.ask({ op: "step", run, until_s: end_s, events: EVENTS })).over;
  }
  const { summary, failed, outcome } = await engine.ask({ op: "finish", run, compared: true });
  if (failed || !outcome) {
    throw new ScenarioFault(failed ?? "the run has no outcome");
  }
  const { simulated_s, result_hash } = summary;
  const [found, curves] = outcome;
  return { ...found, seed, simulated_s, result_hash, curves };
}

function told({ path, message }: Problem): string {
  return path ? `${path}: ${message}` : message;
}
