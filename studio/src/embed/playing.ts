/** The clock of a player: it plays, pauses, steps and goes to a time. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Watched } from "../app/watched.ts";
import { pathsOf, RecordedDoor } from "./door.ts";
import type { Recording, Way } from "./recording.ts";

/** Playback speeds, in seconds of the run per second. */
export const SPEEDS = [0.2, 1, 5, 20, 100] as const;

/** Returns the speed that plays a run of the given number of seconds in about a minute. */
export function usualSpeed(seconds: number): number {
  return seconds > 1500 ? 100 : seconds > 300 ? 20 : seconds > 30 ? 5 : 1;
}

/** Returns the time when the paths of most flows are known, so that a page opens with them; at most the middle. */
export function firstPaths({ from, until, ways }: { from: number; until: number; ways: Way[] }): number {
  const first = ways
    .map(({ courses }) => courses.find(([, nodes]) => nodes.length > 1)?.[0])
    .filter((time) => time !== undefined)
    .sort((one, other) => one - other);
  const time = first[Math.ceil(0.8 * first.length) - 1] ?? from;
  return Math.min(Math.max(time, from), (from + until) / 2);
}

export class Playing implements Watched {
  readonly input = { toml: "", files: {} };
  readonly started: Watched["started"];
  readonly hasPackets = false;
  readonly round: ReadonlySignal<number> = signal(1);
  readonly queues: Watched["queues"] = signal([]);
  readonly now: Signal<number>;
  readonly isPlaying = signal(false);
  readonly speed: Signal<number>;
  private frame = 0;
  /** The first recorded time, in seconds. */
  private readonly from: number;

  constructor(readonly recording: Recording) {
    const { ways, until } = recording;
    const isFlight = recording.kind === "flight";
    this.from = isFlight ? recording.from : 0;
    this.now = signal(isFlight ? firstPaths(recording) : this.from);
    this.speed = signal(usualSpeed(until - this.from));
    const nodes = isFlight ? recording.nodes : [];
    this.started = { flows: ways.map(({ name }) => name), links: [], nodes, end_s: until, seed: 0 };
  }

  /** Seconds of the run per step: from frame to frame, or one. */
  get step_s(): number {
    const { recording } = this;
    const [first = 0, second = first + 1] = recording.kind === "flight" ? recording.times : [];
    return second - first;
  }

  onStep(listener: Parameters<Watched["onStep"]>[0]): () => void {
    if (this.recording.kind === "flight") {
      listener({ tables: { paths: pathsOf(this.recording) } });
    }
    return () => undefined;
  }

  door(): RecordedDoor {
    return new RecordedDoor(this.recording);
  }

  seek(time_s: number): void {
    this.now.value = Math.min(Math.max(time_s, this.from), this.recording.until);
  }

  step(direction: 1 | -1): void {
    this.pause();
    this.seek(this.now.peek() + direction * this.step_s);
  }

  toggle(): void {
    if (this.isPlaying.peek()) {
      this.pause();
    } else {
      this.play();
    }
  }

  pause(): void {
    cancelAnimationFrame(this.frame);
    this.isPlaying.value = false;
  }

  private play(): void {
    const { until } = this.recording;
    if (this.now.peek() >= until) {
      this.seek(this.from);
    }
    this.isPlaying.value = true;
    let last = performance.now();
    const next = (wall: number) => {
      this.seek(this.now.peek() + (Math.max(wall - last, 0) / 1000) * this.speed.peek());
      last = wall;
      if (this.now.peek() >= until) {
        this.pause();
      } else {
        this.frame = requestAnimationFrame(next);
      }
    };
    this.frame = requestAnimationFrame(next);
  }

  /** Plays at the next speed, faster or slower. */
  changeSpeed(direction: 1 | -1): void {
    const at = (SPEEDS as readonly number[]).indexOf(this.speed.peek()) + direction;
    this.speed.value = SPEEDS[Math.min(Math.max(at, 0), SPEEDS.length - 1)] ?? this.speed.peek();
  }

  /**
   * Handles the keys of the player: space, comma, full stop, less than, greater than, Home, End. Returns false for
   * other keys.
   */
  key(key: string): boolean {
    const does: Record<string, () => void> = {
      "<": () => this.changeSpeed(-1),
      ">": () => this.changeSpeed(1),
      " ": () => this.toggle(),
      ",": () => this.step(-1),
      ".": () => this.step(1),
      Home: () => this.seek(this.from),
      End: () => this.seek(this.recording.until),
    };
    does[key]?.();
    return key in does;
  }
}
