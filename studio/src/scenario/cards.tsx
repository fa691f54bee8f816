import { useSignal } from "@preact/signals";
import { presets } from "../app/presets.ts";
import { take, title, toml } from "../app/state.ts";
import { Picture } from "./picture.tsx";
import { Says } from "./says.tsx";

/** The shipped scenarios as cards: a row that scrolls, or all of them. */
export function Cards() {
  const isWide = useSignal(false);
  const isNew = presets.every((preset) => preset.toml !== toml.value);
  return (
    <section class="cards" aria-label="Presets">
      <header>
        <h2>Start from a scenario</h2>
        <button type="button" class="plain" aria-expanded={isWide.value} onClick={() => (isWide.value = !isWide.value)}>
          {isWide.value ? "One row" : `All ${presets.length}`}
        </button>
      </header>
      <ul class={isWide.value ? "grid" : "strip"}>
        {presets.map(({ name, says, toml: text }) => (
          <li key={name}>
            <button
              type="button"
              class="card"
              aria-pressed={title.value === name}
              onClick={() => {
                // A scenario that somebody has changed is not thrown away without a word.
                if (!isNew || toml.value.trim() === "" || confirm("Replace the scenario that you have changed?")) {
                  take(text);
                }
              }}
            >
              <Picture toml={text} />
              <strong>{name}</strong>
              <span class="says">
                <Says text={says} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
