/** Announcements of a run for screen readers. */

import { effect } from "@preact/signals";
import { number } from "../app/numbers.ts";
import { live } from "../app/state.ts";
import { tell } from "../app/told.tsx";
import type { Live } from "./live.ts";
import type { Result } from "./messages.ts";

/** Announces starts and ends of runs while the view is open. */
export function keepSaid(): () => void {
  let known: Live | null = null;
  let isEnded = false;
  return effect(() => {
    const run = live.value;
    const result = run?.result.value;
    if (run !== known) {
      known = run;
      isEnded = false;
      if (run && !result) {
        tell("The run starts.");
      }
    }
    if (result && !isEnded) {
      isEnded = true;
      tell(ending(result));
    }
  });
}

/** Announces the state of a run as soon as it pauses again. */
export function sayPause(run: Live): void {
  let isOn = true;
  const end = effect(() => {
    const state = run.state.value;
    if (isOn && state !== "running") {
      isOn = false;
      if (state === "paused") {
        tell(`Paused at ${number(run.now.peek(), 6)} s: a packet was dropped.`);
      }
      queueMicrotask(() => end());
    }
  });
}

/** Describes how a run ended, and why it was slow. */
export function ending({ summary, account, failed }: Pick<Result, "summary" | "account" | "failed">): string {
  const over = failed ? `The run failed: ${failed}.` : `The run is over after ${number(summary.simulated_s, 4)} s.`;
  return `${over} ${account.headline}`;
}
