/** Measures the causes of a slow flow: runs of the scenario without each of them, distributed to workers. */

import { batch, type Signal, signal } from "@preact/signals";
import type { TextTable } from "../../engine/analysis.ts";
import type { Pool } from "../../engine/pool.ts";
import type { Door, Problem, Scenario, ScenarioInput, Summary } from "../../engine/protocol.ts";

/** Number of seeds of a scenario with random events, as in `lightlag why`. */
export const SEEDS = 10;
/** Events between two responses of the engine, so that a remote run ends soon after it was cancelled. */
const EVENTS = 2_000_000;

type Row = Summary["flows"][number];

/** The scenarios without each cause, as the engine returns them. */
interface Variants {
  causes: { cause: string; is_set: boolean; scenario: Scenario }[];
  short_queue: Scenario | null;
}

/** The measured causes as text. */
export interface Causes {
  /** The speed of the flow, with the number of seeds. */
  headline: string;
  /** The speed, the cause, its effect and the fix. */
  sentences: string[];
  /** The effects. */
  table: TextTable;
}

/** An error in a scenario without a cause, which is then not examined. */
class Invalid extends Error {}

/** Ends a measurement that was cancelled. */
class Cancelled extends Error {}

export class Measuring {
  readonly isRunning: Signal<boolean> = signal(false);
  readonly done: Signal<number> = signal(0);
  /** Number of runs; 0 while it is unknown. */
  readonly all: Signal<number> = signal(0);
  readonly causes: Signal<Causes | undefined> = signal<Causes | undefined>(undefined);
  readonly fault: Signal<string> = signal("");
  private turn = 0;
  private pool: Pool | undefined;

  /** `open` opens the engines, which exist only while runs are in progress. */
  constructor(
    private readonly input: ScenarioInput,
    private readonly summary: Summary,
    private readonly open: () => Pool,
  ) {}

  /** Measures the causes of the speed of a flow, by default of the slowest one. Also returns after {@link cancel}. */
  async measure(flow?: string, seeds = SEEDS): Promise<void> {
    this.cancel();
    const turn = this.turn;
    const pool = this.open();
    this.pool = pool;
    batch(() => {
      this.isRunning.value = true;
      this.done.value = 0;
      this.all.value = 0;
      this.causes.value = undefined;
      this.fault.value = "";
    });
    try {
      const causes = await this.found(pool, turn, flow, seeds);
      if (turn === this.turn) {
        this.causes.value = causes;
      }
    } catch (error) {
      if (turn === this.turn) {
        this.fault.value = error instanceof Error ? error.message : String(error);
      }
    } finally {
      pool.close();
      if (turn === this.turn) {
        this.isRunning.value = false;
      }
    }
  }

  /** Cancels the runs. */
  cancel(): void {
    this.turn++;
    this.pool?.close();
    this.pool = undefined;
    this.isRunning.value = false;
  }

  private async found(pool: Pool, turn: number, flow: string | undefined, seeds: number): Promise<Causes> {
    const { scenario: whole, flows, seed: first } = this.summary;
    const analyse = <T>(request: object) => pool.use((engine) => analysed<T>(engine, request));
    const subject = await analyse<{ flow: string; record: object }>({
      subject: { scenario: whole, flows, flow: flow ?? null },
    });
    const scenario = { ...whole, record: subject.record };
    const run = (of: Scenario, seed: number) => this.run(pool, turn, of, subject.flow, seed);
    const rows = (of: Scenario, numbers: readonly number[]) => Promise.all(numbers.map((seed) => run(of, seed)));
    let numbers = Array.from({ length: seeds }, (_, index) => first + index);
    let base = await rows(scenario, numbers.slice(0, 2));
    if (base.length === 2 && JSON.stringify(base[0]) === JSON.stringify(base[1])) {
      numbers = [first];
      base = base.slice(0, 1);
    } else {
      base = [...base, ...(await rows(scenario, numbers.slice(2)))];
    }
    const variants = await analyse<Variants>({ variants: { scenario, base, first_seed: first } });
    const others = variants.causes.length + (variants.short_queue ? 1 : 0);
    this.all.value = this.done.peek() + others * numbers.length;
    const invalid = (error: unknown) => {
      if (error instanceof Invalid) {
        this.done.value += numbers.length;
        return error;
      }
      throw error;
    };
    const short = variants.short_queue && rows(variants.short_queue, numbers).catch(invalid);
    const tried = variants.causes.map(async ({ cause, is_set, scenario }) => {
      const found = await rows(scenario, numbers).catch(invalid);
      return { cause, is_set, ...(found instanceof Invalid ? { error: found.message } : { rows: found }) };
    });
    const [shortened, ...results] = await Promise.all([short, ...tried]);
    const short_queue = Array.isArray(shortened) ? shortened : null;
    const diagnosis = await analyse<object>({ diagnose: { base, tried: results, short_queue } });
    return analyse<Causes>({ told: diagnosis });
  }

  /** Runs a scenario, and returns the result of the flow. */
  private async run(pool: Pool, turn: number, scenario: Scenario, flow: string, seed: number): Promise<Row> {
    const { flows } = await pool.use(async (engine) => {
      if (turn !== this.turn) {
        throw new Cancelled("cancelled");
      }
      return whole(engine, scenario, this.input, seed);
    });
    const row = flows.find(({ name }) => name === flow);
    if (!row) {
      throw new Error(`with seed ${seed} there is no flow '${flow}': flows are drawn at random; examine one seed`);
    }
    this.done.value++;
    return row;
  }
}

async function analysed<T>(engine: Door, request: object): Promise<T> {
  return (await engine.ask({ op: "analyse", request })).answer as T;
}

/** Executes a run from start to end. */
async function whole(engine: Door, scenario: Scenario, { files }: ScenarioInput, seed: number): Promise<Summary> {
  const { toml } = await engine.ask({ op: "write", scenario });
  const started = await engine.ask({ op: "start", toml, ...(files ? { files } : {}), seed });
  const [problem] = started.errors ?? [];
  if (problem) {
    throw new Invalid(told(problem));
  }
  const { run, end_s } = started;
  for (let isOver = false; !isOver; ) {
    isOver = (await engine.ask({ op: "step", run, until_s: end_s, events: EVENTS })).over;
  }
  const { summary, failed } = await engine.ask({ op: "finish", run });
  if (failed) {
    throw new Error(failed);
  }
  return summary;
}

function told({ path, message }: Problem): string {
  return path ? `${path}: ${message}` : message;
}
