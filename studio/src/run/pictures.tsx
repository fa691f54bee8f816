import "./pictures.css";
import { signal } from "@preact/signals";
import { checked } from "../app/state.ts";
import type { Watched } from "../app/watched.ts";
import { panels } from "./panels.ts";

/**
 * The open animation, which stays open when another run starts; "" for none. Undefined until the user chooses: then it is
 * the globe or the swarm of a scenario that has one, otherwise the network.
 */
const open = signal<string | undefined>(undefined);

/** The animations of a run; one is open at a time. */
export function Pictures({ live }: { live: Watched }) {
  const scenario = checked.value?.scenario ?? {};
  const shown = panels.filter(({ when }) => when(scenario));
  const first = shown.find(({ id }) => id === "globe" || id === "swarm") ?? shown[0];
  const chosen = open.value === undefined ? first : shown.find(({ id }) => id === open.value);
  const now = chosen ?? (open.value === "" ? undefined : first);
  return (
    <section class="pictures panel" aria-label="Animations">
      <h2 class="unseen">Animation</h2>
      <fieldset class="pictures-bar" aria-label="Animation">
        {shown.map(({ id, title }) => (
          <button
            type="button"
            key={id}
            aria-pressed={now?.id === id}
            onClick={() => {
              open.value = now?.id === id ? "" : id;
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
