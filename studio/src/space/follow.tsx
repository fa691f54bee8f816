/** The time that is shown in space: that of the run, or one that somebody chose. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Watched } from "../app/watched.ts";

/** The id of the time in words. */
export const SAYS = "space-time-says";

export interface Shown {
  /** The time that was chosen; undefined follows the run. */
  chosen: Signal<number | undefined>;
  wanted: ReadonlySignal<number>;
}

export function shownTime(live: Watched): Shown {
  const chosen = signal<number | undefined>(undefined);
  return { chosen, wanted: computed(() => chosen.value ?? live.now.value) };
}

/** A slider over the time of the run, and the way back to the run. */
export function TimeBar({ shown: { chosen, wanted }, end, says }: { shown: Shown; end: number; says: string }) {
  return (
    <>
      <div class="time">
        <label for="space-time">Time</label>
        <input
          id="space-time"
          type="range"
          min={0}
          max={end}
          step={end / 1000}
          value={wanted.value}
          aria-valuetext={says}
          onInput={({ currentTarget }) => {
            chosen.value = Number(currentTarget.value);
          }}
        />
        <output for="space-time" id={SAYS}>
          {says}
        </output>
      </div>
      <button
        type="button"
        aria-pressed={chosen.value === undefined}
        onClick={() => {
          chosen.value = chosen.value === undefined ? wanted.value : undefined;
        }}
      >
        Follow the run
      </button>
    </>
  );
}
