/** A run that goes on in a worker of its own. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { engine } from "../engine/here.ts";
import {
  type Asked,
  type Door,
  decode,
  EngineError,
  type Problem,
  type Started,
  type Stepped,
  type Watch,
} from "../engine/protocol.ts";
import type {
  Asks,
  FromCourse,
  Losses,
  LossQuery,
  Query,
  QueueSoFar,
  Result,
  Standing,
  States,
  ToCourse,
} from "./messages.ts";
import { queuesOf } from "./queues.ts";

export type Going = "paused" | "running" | "over" | "failed";

/** A worker of a run as far as it is used here, so that tests can give another. */
export interface CourseLine {
  postMessage(message: ToCourse): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromCourse | { held: true }>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface Choice {
  /** That of the scenario, unless another one is given. */
  seed?: number;
  /** Seconds of the run in a second; `Infinity`: as fast as it goes. */
  speed: number;
}

/** Packets that a step tells at most. They are told unless the run starts as fast as it goes. */
const WATCHED: Watch = { from_s: 0, most: 2000 };

/** A scenario that does not run. */
export class Refused extends EngineError {
  constructor(readonly problems: Problem[]) {
    const [first] = problems;
    super(first ? `${first.path ? `${first.path}: ` : ""}${first.message}` : "the scenario does not run");
  }
}

/** A run. Its worker owns the engine, and keeps what was recorded. */
export class Live {
  /** Its end, its seed, and the names of its flows, links and nodes. */
  started: Started = { run: 0, end_s: 0, seed: 0, flows: [], links: [], nodes: [] };
  /** Seconds since its start. */
  readonly now = signal(0);
  readonly state: Signal<Going> = signal<Going>("paused");
  /** Seconds of the run in a second; `Infinity`: as fast as it goes. It may be set at any time. */
  readonly speed: Signal<number>;
  /** How often it was started; what was told before the last start is of an earlier run. */
  readonly round = signal(0);
  readonly result: Signal<Result | undefined> = signal<Result | undefined>(undefined);
  /** Why it failed, and how to go on. */
  readonly fault = signal("");
  readonly standings: Signal<Standing[]> = signal<Standing[]>([]);
  /** Its queues so far, as all views show them. */
  readonly queues: ReadonlySignal<QueueSoFar[]> = computed(() =>
    queuesOf(this.recorded.value, this.started.links, this.result.value?.summary),
  );
  /** By how much what is kept is thinned, in words; empty while it is whole. */
  readonly thinned = signal("");
  /** The rows that the last single step recorded, in words; none after any other way to go on. */
  readonly happened: Signal<string[]> = signal<string[]>([]);
  /** Whether packets are told. */
  hasPackets = false;

  private readonly recorded = signal<QueueSoFar[]>([]);
  private line: CourseLine | undefined;
  private readonly listeners = new Set<(step: Stepped) => void>();
  private readonly waiting = new Map<number, { settle(answer: never): void; refuse(error: Error): void }>();
  private next = 0;
  private begun: { settle(): void; refuse(error: Error): void } | undefined;

  private constructor(
    readonly asked: Asked,
    private readonly choice: Choice,
    private readonly open: () => Promise<CourseLine>,
  ) {
    this.speed = signal(choice.speed);
    this.speed.subscribe((speed) => this.tell({ kind: "pace", speed }));
  }

  /**
   * Builds the world of a scenario. The run waits at its start.
   *
   * @throws {Refused} the mistakes of a scenario that does not run
   */
  static async start(asked: Asked, choice: Choice, open: () => Promise<CourseLine>): Promise<Live> {
    const live = new Live(asked, choice, open);
    await live.restart();
    return live;
  }

  /** The seed that was chosen; undefined: that of the scenario. */
  get seed(): number | undefined {
    return this.choice.seed;
  }

  /** An engine of its own, beside that of the run. */
  door(): Door {
    return engine();
  }

  play(): void {
    this.go("on");
  }

  /** Goes on until the next packet is dropped. */
  toNextLoss(): void {
    this.go("to the next loss");
  }

  /** Goes on until something is recorded. */
  step(): void {
    this.go("one step");
  }

  pause(): void {
    if (this.state.peek() === "running") {
      this.tell({ kind: "pause" });
    }
  }

  /** From the start again, in a fresh worker if the last one has failed. The run waits at its start. */
  async restart(): Promise<void> {
    this.drop("the run was started again");
    batch(() => {
      this.now.value = 0;
      this.state.value = "paused";
      this.result.value = undefined;
      this.fault.value = "";
      this.standings.value = [];
      this.recorded.value = [];
      this.thinned.value = "";
      this.happened.value = [];
      this.round.value++;
    });
    this.line = await this.open();
    this.line.onmessage = ({ data }) => {
      if ("kind" in data) {
        this.receive(data);
      }
    };
    this.line.onerror = (event) =>
      this.fail(`the worker of the run ended${event.message ? ` (${event.message})` : ""}`);
    const { seed } = this.choice;
    this.hasPackets = Number.isFinite(this.speed.peek());
    this.tell({ kind: "listen", wants: this.listeners.size > 0 });
    this.tell({ kind: "pace", speed: this.speed.peek() });
    await new Promise<void>((settle, refuse) => {
      this.begun = { settle, refuse };
      this.tell({
        kind: "start",
        asked: this.asked,
        ...(seed === undefined ? {} : { seed }),
        ...(this.hasPackets ? { packets: WATCHED } : {}),
      });
    });
  }

  /** Tells each step's answer until the given function is called. */
  onStep(listener: (step: Stepped) => void): () => void {
    this.listeners.add(listener);
    this.tell({ kind: "listen", wants: true });
    return () => {
      this.listeners.delete(listener);
      this.tell({ kind: "listen", wants: this.listeners.size > 0 });
    };
  }

  /** Points of a line, thinned to the least and greatest value of each short time. */
  series(query: Query): Promise<{ x: Float64Array; y: Float64Array }> {
    return this.ask({ what: "series", query });
  }

  /** Dropped packets by time. */
  losses(query: LossQuery): Promise<Losses> {
    return this.ask({ what: "losses", query });
  }

  /** The states that a sender went through. */
  states(flow: number): Promise<States> {
    return this.ask({ what: "states", flow });
  }

  /** Ends it, and its worker. */
  stop(): void {
    this.drop("the run was stopped");
    this.listeners.clear();
    if (this.state.peek() !== "over") {
      this.state.value = "failed";
      this.fault.value = "the run was stopped";
    }
  }

  private go(how: "on" | "to the next loss" | "one step"): void {
    if (this.state.peek() === "paused") {
      this.state.value = "running";
      this.tell({ kind: "go", how });
    }
  }

  private ask<T>(query: Asks): Promise<T> {
    if (!this.line) {
      return Promise.reject(new EngineError("the run has no worker; start it again"));
    }
    const id = this.next++;
    return new Promise<T>((settle, refuse) => {
      this.waiting.set(id, { settle: settle as (answer: never) => void, refuse });
      this.tell({ kind: "ask", id, query });
    });
  }

  private tell(message: ToCourse): void {
    this.line?.postMessage(message);
  }

  private receive(message: FromCourse): void {
    switch (message.kind) {
      case "started":
        this.started = message.started;
        this.begun?.settle();
        break;
      case "refused":
        this.begun?.refuse(new Refused(message.problems));
        break;
      case "stepped": {
        const step = decode(message.answer) as Stepped;
        for (const listener of this.listeners) {
          listener(step);
        }
        break;
      }
      case "news":
        batch(() => {
          this.now.value = message.now_s;
          this.standings.value = message.standings;
          this.recorded.value = message.queues;
          this.thinned.value = message.thinned;
          if (message.happened.length > 0 || this.happened.peek().length > 0) {
            this.happened.value = message.happened;
          }
          if (this.state.peek() !== "over") {
            this.state.value = message.state;
          }
        });
        break;
      case "finished":
        batch(() => {
          this.now.value = message.now_s;
          this.result.value = message.result;
          this.state.value = "over";
        });
        break;
      case "failed":
        this.fail(message.message);
        break;
      case "answer":
        this.waiting.get(message.id)?.settle(message.answer as never);
        this.waiting.delete(message.id);
        break;
      case "no answer":
        this.waiting.get(message.id)?.refuse(new EngineError(message.message));
        this.waiting.delete(message.id);
    }
  }

  private fail(why: string): void {
    const message = `${why}; start the run again`;
    batch(() => {
      this.fault.value = message;
      this.state.value = "failed";
    });
    this.drop(message);
  }

  private drop(why: string): void {
    if (this.line) {
      this.line.onmessage = null;
      this.line.onerror = null;
      this.line.terminate();
      this.line = undefined;
    }
    const error = new EngineError(why);
    this.begun?.refuse(error);
    this.begun = undefined;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { refuse } of all) {
      refuse(error);
    }
  }
}
