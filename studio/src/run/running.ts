/** The run of the page: its start, speed and seed. */

import { computed, signal } from "@preact/signals";
import { files, live, scenarioInput, seed, toml } from "../app/state.ts";
import { Refused } from "./live.ts";
import { start } from "./open.ts";
import { sayPause } from "./said.ts";
import { zoom } from "./span.ts";

/** Speeds, in seconds of the run per second. */
export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, Number.POSITIVE_INFINITY];

export const speed = signal(Number.POSITIVE_INFINITY);
/** Reason why no run started. */
export const refusal = signal("");
export const isStarting = signal(false);
/** Milliseconds from the request of a run to its result. */
export const wall_ms = signal<number | undefined>(undefined);

let clicked = 0;

/** Whether the run belongs to an older version of the scenario. */
export const isStale = computed(() => {
  const run = live.value;
  return run !== null && (run.input.toml !== toml.value || run.input.files !== files.value || run.seed !== seed.value);
});

/** Starts the scenario and lets it run. */
export async function run(goes: "on" | "one step" = "on"): Promise<void> {
  clicked = performance.now();
  isStarting.value = true;
  refusal.value = "";
  zoom.value = undefined;
  try {
    const own = seed.value;
    const next = await start(scenarioInput(), { speed: speed.value, ...(own === undefined ? {} : { seed: own }) });
    noteEnd(next);
    if (goes === "on") {
      next.play();
    } else {
      next.step();
    }
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Refused)) {
      refusal.value += ". Start the run again";
    }
  } finally {
    isStarting.value = false;
  }
}

/** Sets the speed of this run and of the next ones. */
export function setSpeed(next: number): void {
  speed.value = next;
  const run = live.peek();
  if (run) {
    run.speed.value = next;
  }
}

/** Selects the next higher or lower speed. */
export function faster(by: number): void {
  const at = SPEEDS.findIndex((other) => other >= speed.peek());
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + by))] ?? 1);
}

/** Restarts the run, unless a run is starting already. */
export function restart(): void {
  if (!isStarting.peek()) {
    void run();
  }
}

/** Resumes or pauses a run, or restarts it if it is over. */
export function playOrPause(): void {
  const now = live.peek();
  const state = now?.state.peek();
  if (!now || state === "over" || state === "failed") {
    restart();
  } else if (state === "running") {
    now.pause();
  } else {
    now.play();
  }
}

/** Advances until a row is recorded; a run that is over restarts with its first step. */
export function step(): void {
  const now = live.peek();
  const state = now?.state.peek();
  if (state === "paused") {
    now?.step();
  } else if (state !== "running" && !isStarting.peek()) {
    void run("one step");
  }
}

export function toNextLoss(): void {
  const now = live.peek();
  if (now?.state.peek() === "paused") {
    now.toNextLoss();
    sayPause(now);
  }
}

function noteEnd(next: { result: { subscribe(listener: (result: unknown) => void): () => void } }): void {
  wall_ms.value = undefined;
  next.result.subscribe((result) => {
    if (result && wall_ms.peek() === undefined) {
      wall_ms.value = performance.now() - clicked;
    }
  });
}
