import "./scenario.css";
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Lazy } from "../app/lazy.tsx";
import { isSound, title, toml } from "../app/state.ts";
import { canRedo, canUndo, redo, undo } from "../app/undo.ts";
import { open, views } from "../app/views.ts";
import { download } from "../save/download.ts";
import { Cards } from "./cards.tsx";
import Form from "./form.tsx";
import { Files, Imports, takeAll } from "./imports.tsx";
import { keepNetwork } from "./network.ts";
import { jump, Problems, Standing } from "./problems.tsx";
import { loadSchemas, refusal } from "./values.ts";

type Tab = "text" | "form" | "drawing";
const tab = signal<Tab>("form");
/** Whether text and form fit side by side. */
const wide = globalThis.matchMedia?.("(min-width: 900px)");
const isWide = signal(wide?.matches ?? true);
wide?.addEventListener("change", ({ matches }) => {
  isWide.value = matches;
});
const editor = () => import("./editor.tsx");
const drawing = () => import("./drawing.tsx");

const TABS: [Tab, string][] = [
  ["text", "Text"],
  ["form", "Form"],
  ["drawing", "Drawing"],
];

/** The scenario: presets, text, form and drawing, which are always in sync. */
export default function ScenarioView() {
  useEffect(() => {
    loadSchemas().catch((error: unknown) => {
      refusal.value = `the schema cannot be loaded: ${error instanceof Error ? error.message : error}`;
    });
    const ends = [
      keepNetwork(),
      effect(() => {
        if (jump.value && !isWide.peek()) {
          tab.value = "text";
        }
      }),
    ];
    return () => {
      for (const end of ends) {
        end();
      }
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files may be dropped anywhere; the button does the same
    <div
      class="scenario"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void takeAll(event.dataTransfer?.files);
      }}
    >
      <Cards />
      <div class="bar">
        <Standing />
        <span class="gap" />
        <button type="button" class="icon" aria-label="Undo" title="Undo" aria-disabled={!canUndo.value} onClick={undo}>
          ↶
        </button>
        <button type="button" class="icon" aria-label="Redo" title="Redo" aria-disabled={!canRedo.value} onClick={redo}>
          ↷
        </button>
        <Imports />
        <button type="button" onClick={save}>
          Save TOML
        </button>
        {views.some(({ key }) => key === "run") && (
          <button type="button" class="primary" disabled={!isSound.value} onClick={() => open("run")}>
            Run
          </button>
        )}
      </div>
      <Files />
      <div class="tabs" role="tablist" aria-label="Editors of the scenario">
        {TABS.map(([key, name]) => (
          <button
            type="button"
            role="tab"
            key={key}
            id={`tab-${key}`}
            class={`tab-${key}`}
            aria-selected={tab.value === key}
            aria-controls={`pane-${key}`}
            tabIndex={tab.value === key ? 0 : -1}
            onClick={() => (tab.value = key)}
            onKeyDown={(event) => step(event, key)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class={`panes shows-${tab.value}`}>
        <section class="pane text" id="pane-text" role="tabpanel" aria-label="Text">
          {(isWide.value || tab.value === "text") && <Lazy name="The editor" load={editor} />}
          {isWide.value && <Problems />}
        </section>
        <section
          class="pane side"
          id={`pane-${tab.value === "drawing" ? "drawing" : "form"}`}
          role="tabpanel"
          aria-label={tab.value === "drawing" ? "Drawing" : "Form"}
        >
          {tab.value === "drawing" ? <Lazy key="drawing" name="The drawing" load={drawing} /> : <Form />}
        </section>
      </div>
      {!isWide.value && <Problems />}
    </div>
  );
}

/** Moves between tabs with the arrow keys. */
function step(event: KeyboardEvent, key: Tab): void {
  const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (way !== 0) {
    const at = TABS.findIndex(([other]) => other === key);
    const next = TABS[(at + way + TABS.length) % TABS.length]?.[0] ?? "form";
    tab.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  }
}

function save(): void {
  download({ name: `${title.value.replace(/[^\w.-]+/g, "-")}.toml`, content: toml.value, type: "application/toml" });
}
