/** Runs, comparisons and watched studies of the server, tracked by the page. */

import { batch, type Signal, signal } from "@preact/signals";
import { type Address, type Connect, connect, opened, type Wire } from "../engine/socket.ts";

export type Standing = "starting" | "running" | "ending" | "done" | "cancelled" | "failed" | "lost";

/** Written results: for a run its seed and hash, for a comparison its progress. */
export interface Written {
  place: string | null;
  seed?: number;
  result_hash?: string;
  interrupted?: boolean;
  wall_s?: number;
  complete?: boolean;
  finished?: number;
}

export interface Cell {
  congestion: string;
  point: unknown[];
  finished: number;
  seeds: number;
  reached: boolean | null;
}

/** Progress of a study. */
export interface Status {
  study: string;
  cells: Cell[];
  more: number;
  finished: number;
  total: number;
  failures: Record<string, string>;
}

/** An event of a task, reported by `lightlag.studio.worker`. */
export type TaskEvent = { id: number } & (
  | { event: "start"; name: string; total: number; warnings: [kind: string, message: string][] }
  | { event: "progress"; seed: number; now_s: number; end_s: number }
  | { event: "progress"; finished: number; total: number }
  | ({ event: "result" } & Written)
  | ({ event: "status" } & Status)
  | { event: "failed" | "refused"; message: string; errors?: { path: string; message: string }[] }
  | { event: "end"; cancelled: boolean }
);

export type Asking = { op: "run" | "compare" | "study" | "watch" } & Record<string, unknown>;

const LOST = "The connection ended, which ends the tasks that it started; records so far are in the results.";
const STUDY_LOST = "The connection ended, which ends the study; its store holds the finished runs.";
const WATCH_LOST = "The connection ended; the study continues where it was started.";

/** A task and its events so far. */
export class Task {
  readonly standing: Signal<Standing> = signal<Standing>("starting");
  readonly total: Signal<number> = signal(1);
  /** Progress of runs, by seed; for a comparison and a study, finished runs. */
  readonly parts: Signal<ReadonlyMap<number, number>> = signal(new Map());
  readonly written: Signal<Written[]> = signal<Written[]>([]);
  readonly warnings: Signal<string[]> = signal<string[]>([]);
  readonly faults: Signal<string[]> = signal<string[]>([]);
  readonly status: Signal<Status | undefined> = signal<Status | undefined>(undefined);

  constructor(
    readonly id: number,
    readonly op: Asking["op"],
    readonly name: string,
  ) {}

  get isOver(): boolean {
    return ["done", "cancelled", "failed", "lost"].includes(this.standing.value);
  }

  /** Amount finished, out of `total`. */
  get done(): number {
    return [...this.parts.value.values()].reduce((sum, part) => sum + part, 0);
  }

  hear(event: TaskEvent): void {
    batch(() => this.take(event));
  }

  fail(standing: "failed" | "lost", why: string): void {
    batch(() => {
      this.standing.value = standing;
      this.faults.value = [...this.faults.peek(), why];
    });
  }

  private take(event: TaskEvent): void {
    switch (event.event) {
      case "start":
        this.goOn();
        this.total.value = event.total;
        this.warnings.value = event.warnings.map(([kind, message]) => (kind ? `${kind}: ${message}` : message));
        break;
      case "progress":
        if ("seed" in event) {
          this.part(event.seed, event.end_s > 0 ? Math.min(1, event.now_s / event.end_s) : 1);
        } else {
          this.total.value = event.total;
          this.part(0, event.finished);
        }
        break;
      case "result": {
        const { event: _, id: __, ...written } = event;
        this.written.value = [...this.written.peek(), written];
        if (written.seed !== undefined && !written.interrupted) {
          this.part(written.seed, 1);
        }
        break;
      }
      case "status":
        this.goOn();
        this.status.value = event;
        this.total.value = event.total;
        this.part(0, event.finished);
        break;
      case "failed":
      case "refused": {
        const each = (event.errors ?? []).map(({ path, message }) => (path ? `${path}: ${message}` : message));
        this.faults.value = [...this.faults.peek(), ...(each.length > 0 ? each : [event.message])];
        break;
      }
      case "end":
        this.standing.value = event.cancelled ? "cancelled" : this.faults.peek().length > 0 ? "failed" : "done";
    }
  }

  private goOn(): void {
    if (this.standing.peek() === "starting") {
      this.standing.value = "running";
    }
  }

  private part(key: number, part: number): void {
    this.parts.value = new Map(this.parts.peek()).set(key, part);
  }
}

/** The tasks of this page. Their connection stays open as long as the page, so that its end is noticed immediately. */
export class Tasks {
  /** All tasks, the latest first. */
  readonly all: Signal<Task[]> = signal<Task[]>([]);
  private wire: Promise<Wire> | undefined;
  private next = 1;

  constructor(
    private readonly address: Address,
    private readonly lost: (why: string) => void,
    private readonly open: Connect = connect,
  ) {}

  /** @throws {EngineError} the reason why there is no connection */
  async connect(): Promise<void> {
    this.wire ??= opened(
      this.address,
      (data) => this.hear(data),
      (why) => this.end(why),
      this.open,
    );
    try {
      await this.wire;
    } catch (error) {
      this.wire = undefined;
      throw error;
    }
  }

  /** Starts a task. Its results are stored in the task. */
  start(asking: Asking, name: string): Task {
    const task = new Task(this.next++, asking.op, name);
    this.all.value = [task, ...this.all.peek()];
    this.send({ ...asking, id: task.id }).catch((error: unknown) =>
      task.fail("failed", error instanceof Error ? error.message : String(error)),
    );
    return task;
  }

  cancel(task: Task): void {
    if (!task.isOver) {
      task.standing.value = "ending";
      this.send({ op: "cancel", id: task.id }).catch(() => undefined);
    }
  }

  /** Removes a finished task from the list. */
  forget(task: Task): void {
    this.all.value = this.all.peek().filter((other) => other !== task);
  }

  private async send(message: object): Promise<void> {
    await this.connect();
    (await this.wire)?.send(JSON.stringify(message));
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const event = JSON.parse(data) as TaskEvent;
      this.all
        .peek()
        .find(({ id }) => id === event.id)
        ?.hear(event);
    }
  }

  private end(why: string): void {
    this.wire = undefined;
    for (const task of this.all.peek()) {
      if (!task.isOver) {
        task.fail("lost", { run: LOST, compare: LOST, study: STUDY_LOST, watch: WATCH_LOST }[task.op]);
      }
    }
    this.lost(why);
  }
}
