/**
 * The player in the HTML file of a recorded run: the studio's globe or swarm, with its own clock and the data in the
 * file.
 */

import "../app/style.css";
import "./player.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { Options } from "../app/fields.tsx";
import { applyTheme, isDark, toggleTheme } from "../app/theme.ts";
import Globe from "../space/globe.tsx";
import Swarm from "../space/swarm.tsx";
import { Charts } from "./charts.tsx";
import { Playing, SPEEDS } from "./playing.ts";
import type { Recording } from "./recording.ts";

function Player({ playing }: { playing: Playing }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => onKey(playing, event);
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [playing]);
  const { kind, title, note, charts } = playing.recording;
  return (
    <main class="player">
      {window.parent === window && <h1>{title}</h1>}
      {note && <p class="note">{note}</p>}
      <Controls playing={playing} />
      <div class={charts.length > 0 ? "sides" : "alone"}>
        <h2 class="unseen">{kind === "sky" ? "Globe" : "Swarm"}</h2>
        {kind === "sky" ? <Globe live={playing} /> : <Swarm live={playing} />}
        {charts.length > 0 && <Charts playing={playing} />}
      </div>
      <p class="quiet help">
        Drag the view to rotate it; the wheel zooms. Keys: space plays and pauses, comma and full stop step, &lt; and
        &gt; change the speed, Home and End jump to the start and the end; when the view has the focus, arrow keys
        rotate it, and + and − zoom.
      </p>
    </main>
  );
}

function Controls({ playing }: { playing: Playing }) {
  const isPlaying = playing.isPlaying.value;
  return (
    <fieldset class="controls" aria-label="Playback">
      <button type="button" class="primary play" title="Space" onClick={() => playing.toggle()}>
        <span aria-hidden="true">{isPlaying ? "❚❚" : "▶"}</span> {isPlaying ? "Pause" : "Play"}
      </button>
      <button type="button" title="One step back (comma)" onClick={() => playing.step(-1)}>
        Step back
      </button>
      <button type="button" title="One step forward (full stop)" onClick={() => playing.step(1)}>
        Step
      </button>
      <label>
        Speed{" "}
        <select
          title="Slower (<), faster (>)"
          value={String(playing.speed.value)}
          onChange={({ currentTarget }) => (playing.speed.value = Number(currentTarget.value))}
        >
          <Options options={SPEEDS.map((speed) => [String(speed), `${speed}×`])} />
        </select>
      </label>
      {window.parent === window && (
        <button type="button" class="theme" onClick={toggleTheme}>
          {isDark() ? "Light" : "Dark"}
        </button>
      )}
    </fieldset>
  );
}

function onKey(playing: Playing, event: KeyboardEvent): void {
  const { target, key } = event;
  // A button takes the space itself, a field every key but those that a slider does not know.
  const takers = key === " " ? "input:not([type=range]), select, button, summary, a" : "input, select";
  const isTaken = target instanceof HTMLElement && target.closest(takers);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken) {
    return;
  }
  if (playing.key(key)) {
    event.preventDefault();
  }
}

/** Sets the height of the frame that contains the player in a report, if the report is accessible. */
function fitFrame(root: HTMLElement): void {
  try {
    const frame = window.frameElement as HTMLElement | null;
    if (frame) {
      new ResizeObserver(() => {
        frame.style.height = `${root.scrollHeight}px`;
      }).observe(root);
    }
  } catch {
    // The frame belongs to another origin, and keeps its height.
  }
}

const root = document.getElementById("player");
const text = document.getElementById("recording")?.textContent;
if (root && text) {
  applyTheme();
  const playing = new Playing(JSON.parse(text) as Recording);
  render(<Player playing={playing} />, root);
  fitFrame(root);
}
