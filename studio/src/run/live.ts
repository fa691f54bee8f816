/** A run in a worker of its own. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Moment } from "../app/watched.ts";
import { waysOf } from "../app/ways.ts";
import { engine } from "../engine/here.ts";
import {
  type Door,
  decode,
  EngineError,
  type Problem,
  type ScenarioInput,
  type Started,
  type Stepped,
  type Watch,
} from "../engine/protocol.ts";
import type { PageLoad } from "../save/pages.ts";
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
import { momentsOf } from "./moments.ts";
import { queuesOf } from "./queues.ts";

export type Going = "paused" | "running" | "over" | "failed";

/** The part of a run worker's interface that is used here, so that tests can replace it. */
export interface CourseLine {
  postMessage(message: ToCourse): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromCourse | { held: true }>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface Choice {
  /** Seed. The default is the scenario's. */
  seed?: number;
  /** Seconds of the run per second; `Infinity` for maximum speed. */
  speed: number;
  /** Time in seconds that is reached at full speed, before packets are reported and `speed` applies. */
  skip_s?: number;
}

/** Maximum number of packets that a step reports. Packets are reported unless the run starts at maximum speed. */
const WATCHED: Watch = { from_s: 0, most: 2000 };
/** Seconds of packets reported before the time that is skipped to: those in transit at that time. */
const UNDER_WAY = 2;

/** Error of a scenario that cannot run. */
export class Refused extends EngineError {
  constructor(readonly problems: Problem[]) {
    const [first] = problems;
    super(first ? `${first.path ? `${first.path}: ` : ""}${first.message}` : "the scenario does not run");
  }
}

/** A run. Its worker owns the engine, and stores the records. */
export class Live {
  /** Its end, its seed, and the names of its flows, links and nodes. */
  started: Started = { run: 0, end_s: 0, seed: 0, flows: [], links: [], nodes: [] };
  /** Seconds since its start. */
  readonly now = signal(0);
  readonly state: Signal<Going> = signal<Going>("paused");
  /** Seconds of the run per second; `Infinity` for maximum speed. It may be set at any time. */
  readonly speed: Signal<number>;
  /** Number of starts. Reports from before the last start belong to an earlier run. */
  readonly round = signal(0);
  readonly result: Signal<Result | undefined> = signal<Result | undefined>(undefined);
  /** Reason of the failure, and how to recover. */
  readonly fault = signal("");
  readonly standings: Signal<Standing[]> = signal<Standing[]>([]);
  /** The queues of the run so far, with the values that all views show. */
  readonly queues: ReadonlySignal<QueueSoFar[]> = computed(() =>
    queuesOf(this.recorded.value, this.started.links, this.result.value?.summary),
  );
  readonly isOver: ReadonlySignal<boolean> = computed(() => this.state.value === "over");
  /** Decimation of the stored records, as text; empty while they are complete. */
  readonly thinned = signal("");
  /** Rows recorded by the last single step, as text; none after any other action that advances the run. */
  readonly happened: Signal<string[]> = signal<string[]>([]);
  /** Whether packets are reported. */
  hasPackets = false;

  private readonly recorded = signal<QueueSoFar[]>([]);
  private line: CourseLine | undefined;
  private readonly listeners = new Set<(step: Stepped) => void>();
  private readonly waiting = new Map<number, { settle(answer: never): void; refuse(error: Error): void }>();
  private next = 0;
  private begun: { settle(): void; refuse(error: Error): void } | undefined;

  private constructor(
    readonly input: ScenarioInput,
    private readonly choice: Choice,
    private readonly open: () => Promise<CourseLine>,
  ) {
    this.speed = signal(choice.speed);
    this.speed.subscribe((speed) => this.tell({ kind: "pace", speed }));
  }

  /**
   * Creates a run of a scenario. It is paused at its start.
   *
   * @throws {Refused} if the scenario cannot run
   */
  static async start(input: ScenarioInput, choice: Choice, open: () => Promise<CourseLine>): Promise<Live> {
    const live = new Live(input, choice, open);
    await live.restart();
    return live;
  }

  /** Seed chosen by the user; undefined for the scenario's. */
  get seed(): number | undefined {
    return this.choice.seed;
  }

  /** Opens an engine that is separate from the run's. */
  door(): Door {
    return engine();
  }

  play(): void {
    this.go("on");
  }

  /** Advances until the next packet is dropped. */
  toNextLoss(): void {
    this.go("to the next loss");
  }

  /** Advances until a row is recorded. */
  step(): void {
    this.go("one step");
  }

  pause(): void {
    if (this.state.peek() === "running") {
      this.tell({ kind: "pause" });
    }
  }

  /** Restarts the run, in a new worker if the last one has failed. The run is paused at its start. */
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
    const { seed, skip_s = 0 } = this.choice;
    this.hasPackets = Number.isFinite(this.speed.peek());
    this.tell({ kind: "listen", wants: this.listeners.size > 0 });
    this.tell({ kind: "pace", speed: this.speed.peek() });
    await new Promise<void>((settle, refuse) => {
      this.begun = { settle, refuse };
      this.tell({
        kind: "start",
        input: this.input,
        ...(seed === undefined ? {} : { seed }),
        ...(skip_s > 0 ? { skip_s } : {}),
        ...(this.hasPackets ? { packets: { ...WATCHED, from_s: Math.max(0, skip_s - UNDER_WAY) } } : {}),
      });
    });
  }

  /** Passes the result of each step to `listener` until the returned function is called. */
  onStep(listener: (step: Stepped) => void): () => void {
    this.listeners.add(listener);
    this.tell({ kind: "listen", wants: true });
    return () => {
      this.listeners.delete(listener);
      this.tell({ kind: "listen", wants: this.listeners.size > 0 });
    };
  }

  /** Returns the points of a line, decimated to the minimum and maximum of each short interval. */
  series(query: Query): Promise<{ x: Float64Array; y: Float64Array }> {
    return this.ask({ what: "series", query });
  }

  /** Returns dropped packets by time. */
  losses(query: LossQuery): Promise<Losses> {
    return this.ask({ what: "losses", query });
  }

  /** Returns the moments of one flow, or of all, that are worth seeing packet by packet. */
  moments(flow: number | undefined): Promise<Moment[]> {
    return momentsOf(this, waysOf(this), flow);
  }

  /** Returns the packet-hops per simulated second, once the run is over. */
  hopsPerSecond(): number {
    const { packet_hops = 0, simulated_s = 1 } = this.result.peek()?.summary ?? {};
    return packet_hops / Math.max(simulated_s, 1e-9);
  }

  /** Returns the sequence of a sender's states. */
  states(flow: number): Promise<States> {
    return this.ask({ what: "states", flow });
  }

  /** Returns a load of a page, once the run is over. */
  page(flow: number, page: number): Promise<PageLoad> {
    return this.ask({ what: "page", flow, page });
  }

  /** Ends the run and its worker. */
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
          if (message.texts) {
            const { standings, queues, thinned, happened } = message.texts;
            this.standings.value = standings;
            this.recorded.value = queues;
            this.thinned.value = thinned;
            if (happened.length > 0 || this.happened.peek().length > 0) {
              this.happened.value = happened;
            }
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
