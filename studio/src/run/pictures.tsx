import "./pictures.css";
import { signal } from "@preact/signals";
import { checked } from "../app/state.ts";
import type { Watched } from "../app/watched.ts";
import { panels } from "./panels.ts";

/** The open animation: it stays open when another run starts. */
const open = signal<string | undefined>(undefined);

/** The animations of a run; one is open at a time. */
export function Pictures({ live }: { live: Watched }) {
  const scenario = checked.value?.scenario ?? {};
  const shown = panels.filter(({ when }) => when(scenario));
  const now = shown.find(({ id }) => id === open.value);
  return (
    <section class="pictures panel" aria-label="Animations">
      <fieldset class="pictures-bar" aria-label="Animation">
        {shown.map(({ id, title }) => (
          <button
            type="button"
            key={id}
            aria-pressed={now?.id === id}
            onClick={() => {
              open.value = open.value === id ? undefined : id;
            }}
          >
            {title}
          </button>
        ))}
      </fieldset>
      {now && <now.component key={now.id} live={live} />}
    </section>
  );
}
