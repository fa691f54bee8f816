/** A run in its worker: it advances in short slices, stores its records, and answers queries of the page. */

import {
  decode,
  type Finished,
  type Request,
  type Started,
  type Stepped,
  type Tables,
  type Watch,
} from "../engine/protocol.ts";
import { Pages } from "../save/pages.ts";
import { Gathered } from "./facts.ts";
import type { Asks, FromCourse, Result, Standing, ToCourse } from "./messages.ts";
import { hasRows, told } from "./step.ts";
import { Store } from "./store.ts";

/** Target duration of a slice in milliseconds, so that messages are received in between. */
const SLICE = 12;
/** Milliseconds between reports of the time, and between slices of a run below maximum speed. */
const NEWS = 16;
/** Milliseconds between reports of flows and queues, which are shown as text. */
const TEXTS = 100;
/** Events of the first slice, and of a step that searches for a loss. */
const EVENTS = 10_000;
const FEW = 200;
/** Maximum number of events of a single step, whether a row was recorded or not. */
const LONGEST = 1000;
/** Maximum number of flows whose state is reported. */
const FLOWS = 64;

/** An engine that returns bytes, local or remote. */
export interface Bytes {
  ask(request: Request): ArrayBuffer | Promise<ArrayBuffer>;
}

export interface Surroundings {
  post(message: FromCourse, transfer?: ArrayBuffer[]): void;
  /** Returns the milliseconds of a clock. */
  clock(): number;
  /** Yields to incoming messages for at least the given number of milliseconds. */
  rest(milliseconds: number): Promise<void>;
}

type Mode = "paused" | "on" | "to the next loss" | "one step";

/** The run of a worker. */
export class Course {
  private started: Started | undefined;
  private store = new Store();
  private facts = new Gathered([], []);
  private pages = new Pages({}, []);
  private mode: Mode = "paused";
  private speed = Number.POSITIVE_INFINITY;
  private wants = false;
  private isGoing = false;
  private now = 0;
  private events = 0;
  private budget = EVENTS;
  private engine_ms = 0;
  /** Rows recorded by the last single step, as text. */
  private happened: string[] = [];
  private lastNews = Number.NEGATIVE_INFINITY;
  private lastTexts = Number.NEGATIVE_INFINITY;
  /** Time that is reached at full speed, before the pace applies. */
  private skip_s = 0;
  /** Clock value and the time of the run at that moment. */
  private anchor = { clock: 0, now: 0 };

  constructor(
    private readonly engine: Bytes,
    private readonly around: Surroundings,
  ) {}

  async receive(message: Exclude<ToCourse, { kind: "open" }>): Promise<void> {
    try {
      switch (message.kind) {
        case "start":
          await this.start(message);
          break;
        case "pace":
          this.speed = message.speed;
          this.anchorHere();
          break;
        case "go":
          this.mode = message.how;
          this.happened = [];
          this.anchorHere();
          await this.go();
          break;
        case "pause":
          this.mode = "paused";
          break;
        case "listen":
          this.wants = message.wants;
          break;
        case "ask":
          this.answer(message.id, message.query);
      }
    } catch (error) {
      this.mode = "paused";
      this.started = undefined;
      this.around.post({ kind: "failed", message: reason(error) });
    }
  }

  private async start(message: { input: object; seed?: number; packets?: Watch; skip_s?: number }): Promise<void> {
    const { input, seed, packets, skip_s = 0 } = message;
    this.skip_s = skip_s;
    const request = {
      op: "start",
      ...input,
      ...(seed === undefined ? {} : { seed }),
      ...(packets ? { packets } : {}),
    } as Request;
    const started = decode(await this.send(request)) as Started;
    if (started.errors) {
      this.around.post({ kind: "refused", problems: started.errors });
      return;
    }
    this.started = started;
    this.facts = new Gathered(started.flows, started.links);
    this.around.post({ kind: "started", started });
  }

  /** Advances until it is paused, or is over. */
  private async go(): Promise<void> {
    if (this.isGoing || !this.started) {
      return;
    }
    this.isGoing = true;
    try {
      while (this.isOn()) {
        const isOver = await this.slice(this.started);
        if (isOver) {
          await this.finish(this.started);
          return;
        }
        this.tellNews(!this.isOn());
        await this.around.rest(this.isPaced() ? NEWS : 0);
      }
    } finally {
      this.isGoing = false;
    }
    this.tellNews(true);
  }

  private isOn(): boolean {
    return this.mode !== "paused";
  }

  private isPaced(): boolean {
    return this.mode === "on" && Number.isFinite(this.speed);
  }

  private anchorHere(): void {
    this.anchor = { clock: this.around.clock(), now: Math.max(this.now, this.skip_s) };
  }

  /** Advances for about one slice. Returns true if the run is over. */
  private async slice(started: Started): Promise<boolean> {
    const start = this.around.clock();
    if (this.mode === "one step") {
      return this.single(started);
    }
    if (this.mode === "to the next loss") {
      return this.search(started, start);
    }
    let until = started.end_s;
    if (this.isPaced()) {
      until = Math.min(until, this.anchor.now + ((start - this.anchor.clock) / 1000) * this.speed);
      if (until <= this.now && until < started.end_s) {
        return false;
      }
    }
    const { over, count } = await this.step(started.run, until, this.budget);
    const took = this.around.clock() - start;
    if (count >= this.budget) {
      this.budget = Math.max(FEW, Math.round(this.budget * Math.min(2, Math.max(0.25, SLICE / Math.max(took, 0.1)))));
      // A run that cannot keep its pace does not hurry later.
      this.anchorHere();
    } else if (!over) {
      this.now = Math.max(this.now, until);
    }
    return over;
  }

  /** Advances in small steps until a packet is dropped. */
  private async search(started: Started, start: number): Promise<boolean> {
    do {
      const { over, isLoss } = await this.step(started.run, started.end_s, FEW);
      if (over) {
        return true;
      }
      if (isLoss) {
        this.mode = "paused";
        return false;
      }
    } while (this.around.clock() - start < SLICE);
    return false;
  }

  /** Advances event by event until a row is recorded. */
  private async single(started: Started): Promise<boolean> {
    for (let events = 0; events < LONGEST; events++) {
      let said: string[] | undefined;
      const { over } = await this.step(started.run, started.end_s, 1, (tables) => {
        said = hasRows(tables) ? told(tables, started) : undefined;
      });
      if (over) {
        return true;
      }
      if (said) {
        this.happened = said;
        break;
      }
    }
    this.mode = "paused";
    return false;
  }

  /** Advances a run. `read` gets its tables, which an animation may own afterwards. */
  private async step(run: number, until_s: number, events: number, read?: (tables: Tables) => void) {
    const answer = await this.send({ op: "step", run, until_s, events });
    const step = decode(answer) as Stepped;
    this.store.add(step.tables);
    this.facts.add(step.tables);
    this.now = Math.max(this.now, step.now_s);
    const count = step.events - this.events;
    this.events = step.events;
    const { drops } = step.tables;
    const isLoss = drops !== undefined && drops.columns.backward?.values.some((value) => value === 0) === true;
    read?.(step.tables);
    if (this.wants) {
      this.around.post({ kind: "stepped", answer, events: step.events }, [answer]);
    }
    return { over: step.over, count, isLoss };
  }

  private async finish({ run }: Started): Promise<void> {
    this.mode = "paused";
    const finished = decode(await this.send({ op: "finish", run })) as Finished;
    this.store.add(finished.tables);
    this.facts.add(finished.tables);
    this.pages = new Pages(finished.tables, this.started?.flows ?? []);
    const { summary } = finished;
    this.now = summary.simulated_s;
    this.tellNews(true);
    const result: Result = {
      summary,
      account: this.facts.account(summary),
      pages: this.pages.list(),
      engine_s: this.engine_ms / 1000,
      ...(finished.failed ? { failed: finished.failed } : {}),
    };
    this.around.post({ kind: "finished", result, now_s: this.now });
  }

  private async send(request: Request): Promise<ArrayBuffer> {
    const start = this.around.clock();
    const answer = await this.engine.ask(request);
    this.engine_ms += this.around.clock() - start;
    return answer;
  }

  private answer(id: number, query: Asks): void {
    try {
      const answer = this.found(query);
      const transfer = Object.values(answer).flatMap((values) =>
        ArrayBuffer.isView(values) ? [values.buffer as ArrayBuffer] : [],
      );
      this.around.post({ kind: "answer", id, answer }, transfer);
    } catch (error) {
      this.around.post({ kind: "no answer", id, message: reason(error) });
    }
  }

  private found(query: Asks): object {
    switch (query.what) {
      case "series":
        return this.store.series(query.query, this.facts.longestLeg(query.query.of));
      case "losses":
        return this.store.losses(query.query);
      case "states":
        return this.store.states(query.flow, this.facts.longestLeg(query.flow));
      case "page": {
        const load = this.pages.load(query.flow, query.page);
        if (!load) {
          throw new Error(`no object of load ${query.page} of this page arrived`);
        }
        return load;
      }
    }
  }

  private tellNews(isSure: boolean): void {
    const clock = this.around.clock();
    if (!isSure && clock - this.lastNews < NEWS) {
      return;
    }
    this.lastNews = clock;
    const time = { kind: "news", now_s: this.now, state: this.mode === "paused" ? "paused" : "running" } as const;
    if (!isSure && clock - this.lastTexts < TEXTS) {
      this.around.post(time);
      return;
    }
    this.lastTexts = clock;
    const { thinned } = this.store;
    const texts = { standings: this.standings(), queues: this.store.queues(), thinned, happened: this.happened };
    this.around.post({ ...time, texts });
  }

  private standings(): Standing[] {
    const count = Math.min(FLOWS, this.started?.flows.length ?? 0);
    return Array.from({ length: count }, (_, flow) => {
      const leg = this.facts.longestLeg(flow);
      const row = this.store.last(flow, leg);
      const own = leg === 1 ? row : this.store.last(flow, 1);
      const time = own ? (own.time_s ?? 0) - (own.first_s ?? 0) : 0;
      return {
        flow,
        goodput_bps: time > 0 ? (8 * (own?.arrived_bytes ?? 0)) / time : 0,
        cwnd_segments: row?.cwnd_segments ?? Number.NaN,
        srtt_s: row?.srtt_s ?? Number.NaN,
        lost: this.facts.lost(flow),
        state: this.store.stateOf(flow, leg),
      };
    });
  }
}

function reason(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) {
    return `the engine stopped (${error.message})`;
  }
  if (error instanceof RangeError) {
    return `the run is out of memory (${error.message})`;
  }
  return error instanceof Error ? error.message : String(error);
}
