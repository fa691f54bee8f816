/** The time that the scene shows: the run's, or a selected one. A recording is moved to the selected time itself. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Watched } from "../app/watched.ts";

/** The id of the element that shows the time as text. */
export const SAYS = "space-time-says";

export interface Shown {
  /** The selected time; undefined follows the run. */
  chosen: Signal<number | undefined>;
  wanted: ReadonlySignal<number>;
  /** Whether all times of the run are recorded, so that it is not followed. */
  isRecorded: boolean;
  choose(time_s: number): void;
}

export function shownTime(live: Watched): Shown {
  const chosen = signal<number | undefined>(undefined);
  const choose = (time_s: number) => {
    if (live.seek) {
      live.seek(time_s);
    } else {
      chosen.value = time_s;
    }
  };
  return {
    chosen,
    choose,
    isRecorded: live.seek !== undefined,
    wanted: computed(() => chosen.value ?? live.now.value),
  };
}

/** A slider over the time of the run, and the button that returns to the run's time. */
export function TimeBar({ shown, end, says }: { shown: Shown; end: number; says: string }) {
  const { chosen, wanted } = shown;
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
            shown.choose(Number(currentTarget.value));
          }}
        />
        <output for="space-time" id={SAYS}>
          {says}
        </output>
      </div>
      {!shown.isRecorded && (
        <button
          type="button"
          aria-pressed={chosen.value === undefined}
          onClick={() => {
            chosen.value = chosen.value === undefined ? wanted.value : undefined;
          }}
        >
          Follow the run
        </button>
      )}
    </>
  );
}
