import "./cards.css";
import { useSignal } from "@preact/signals";
import { presets } from "../app/presets.ts";
import { Roving } from "../app/roving.tsx";
import { take, title } from "../app/state.ts";
import { Picture } from "./picture.tsx";
import { Says } from "./says.tsx";

/** The minimal scenario that runs: a link and a flow across it. */
const NEW = `name = "mine"
duration = "60 s"

[[links]]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "50 ms"
queue = "1 bdp"

[[flows]]
from = "client"
to = "server"
`;

/** The shipped scenarios as cards: a row that scrolls, or all of them. `made` is called after the minimal one was opened. */
export function Cards({ made }: { made?: () => void }) {
  const isWide = useSignal(false);
  return (
    <section class="cards" aria-label="Presets">
      <header>
        <h2>Start from a scenario</h2>
        <button
          type="button"
          onClick={() => {
            take(NEW);
            made?.();
          }}
        >
          New
        </button>
        <button type="button" class="plain" aria-expanded={isWide.value} onClick={() => (isWide.value = !isWide.value)}>
          {isWide.value ? "One row" : `All ${presets.length}`}
        </button>
      </header>
      <Roving label="Scenarios that come with lightlag">
        <ul class={isWide.value ? "grid" : "strip"}>
          {presets.map(({ name, says, toml: text }) => (
            <li key={name}>
              <button type="button" class="card" aria-pressed={title.value === name} onClick={() => take(text)}>
                <Picture toml={text} />
                <strong>{name}</strong>
                <span class="says">
                  <Says text={says} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Roving>
    </section>
  );
}
