import { Options } from "../app/fields.tsx";
import { Prose } from "../app/name.tsx";
import { fixed, number } from "../app/numbers.ts";
import { live, seed } from "../app/state.ts";
import {
  faster,
  isStale,
  isStarting,
  playOrPause,
  restart,
  run,
  SPEEDS,
  setSpeed,
  speed,
  step,
  toNextLoss,
} from "./running.ts";

/** Formats a time of a run: with all digits if it is paused, with few while it advances. */
function timeOf(state: string | undefined, seconds: number): string {
  return state === "paused" ? fixed(seconds, 6) : number(seconds, 4);
}

/** Play and pause, restart, one step, the next loss, speed, and the progress of the run. */
export function Controls() {
  const now = live.value;
  const state = now?.state.value;
  const isRunning = state === "running";
  const isDone = state === "over" || state === "failed" || !now;
  const end = now?.result.value?.summary.simulated_s ?? now?.started.end_s ?? 0;
  const time = now?.now.value ?? 0;
  return (
    <div class="controls">
      <button
        type="button"
        class="primary play"
        // A button that is disabled while it works would lose the focus.
        aria-disabled={isStarting.value}
        title={`${isDone ? "Run" : isRunning ? "Pause" : "Play"} (space)`}
        onClick={playOrPause}
      >
        <span aria-hidden="true">{isRunning ? "❚❚" : "▶"}</span> {isDone ? "Run" : isRunning ? "Pause" : "Play"}
      </button>
      <button type="button" title="Restart (r)" aria-disabled={isStarting.value} onClick={restart}>
        <span aria-hidden="true">↺</span> Restart
      </button>
      <button
        type="button"
        title="Advance to the next record (.)"
        // A button that is disabled while it works would lose the focus.
        aria-disabled={isRunning || isStarting.value}
        onClick={step}
      >
        Step
      </button>
      <button
        type="button"
        title="Continue to the next loss (n)"
        aria-disabled={state !== "paused"}
        onClick={toNextLoss}
      >
        Next loss
      </button>
      <span class="speed">
        <label>
          Speed{" "}
          <select
            value={String(speed.value)}
            onChange={(event) => setSpeed(Number(event.currentTarget.value))}
            title="Simulated seconds per second (+ and −)"
          >
            <Options options={SPEEDS.map((one) => [String(one), Number.isFinite(one) ? `${one}×` : "maximum speed"])} />
          </select>
        </label>
        <input
          type="range"
          aria-label="Speed, on a logarithmic scale"
          aria-valuetext={Number.isFinite(speed.value) ? `${speed.value} times` : "maximum speed"}
          min={0}
          max={SPEEDS.length - 1}
          value={SPEEDS.indexOf(speed.value)}
          onInput={(event) => setSpeed(SPEEDS[Number(event.currentTarget.value)] ?? 1)}
        />
      </span>
      <label class="seed">
        Seed{" "}
        <input
          type="number"
          min={0}
          step={1}
          value={seed.value ?? ""}
          placeholder={String(now?.started.seed ?? "")}
          title="Seed of the next start; empty: the scenario's seed"
          onChange={(event) => {
            const { value, validity } = event.currentTarget;
            const isSeed = validity.valid && value !== "" && Number.isSafeInteger(Number(value));
            seed.value = isSeed ? Number(value) : undefined;
            void run();
          }}
        />
      </label>
      <span class="time">
        <progress aria-label="Progress" max={end || 1} value={Math.min(time, end || 1)} />
        <span class="mono">{now ? `${timeOf(state, time)} / ${number(end, 4)}` : "0 / 0"} s</span>
      </span>
      <p class="happened quiet" role="status">
        {now && now.happened.value.length > 0 && (
          <Prose
            text={`${now.happened.value.join("; ")}.`}
            names={[...now.started.flows, ...now.started.links, ...now.started.nodes]}
          />
        )}
      </p>
      {isStale.value && (
        <button type="button" class="stale" onClick={() => void run()}>
          The scenario has changed: run it again
        </button>
      )}
    </div>
  );
}

/** Handles the keys of the view: space, full stop, n, r, + and −. */
export function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  // A button takes the space itself, a field every key.
  const takers = key === " " ? "input, select, textarea, button, summary, a" : "input, select, textarea";
  const isTaken = target instanceof HTMLElement && target.closest(takers);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken) {
    return;
  }
  const does: Record<string, () => void> = {
    " ": playOrPause,
    ".": step,
    n: toNextLoss,
    r: restart,
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
  };
  if (does[key]) {
    event.preventDefault();
    does[key]();
  }
}
