import { useEffect, useRef } from "preact/hooks";
import { focusContent, keepFocus } from "./focus.ts";
import { Lazy } from "./lazy.tsx";
import { title } from "./state.ts";
import { isDark, toggleTheme } from "./theme.ts";
import { Told } from "./told.tsx";
import { open, tools, view, views } from "./views.ts";

/** The header and the view that is open. */
export function Shell() {
  const now = views.find(({ key }) => key === view.value) ?? views[0];
  const shown = useRef(view.value);
  useEffect(keepFocus, []);
  useEffect(() => {
    if (shown.current !== view.value) {
      shown.current = view.value;
      focusContent();
    }
  }, [view.value]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <span class="brand">
          <Mark />
          <span class="words">
            lightlag <span class="quiet">studio</span>
          </span>
        </span>
        <h1 class="title" title={title.value}>
          {title}
        </h1>
        <nav aria-label="Views">
          {views.map(({ key, name }) => (
            <a
              key={key}
              href={`?view=${key}`}
              aria-current={view.value === key ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                open(key);
              }}
            >
              {name}
            </a>
          ))}
        </nav>
        <div class="tools">
          {tools.map((tool) => (
            <Lazy key={tool.key} name={tool.name} load={tool.load} />
          ))}
          <ThemeButton />
        </div>
      </header>
      <main id="main" tabIndex={-1} aria-label={now?.name}>
        {now && <Lazy key={now.key} name={now.name} load={now.load} />}
      </main>
      <Told />
    </>
  );
}

/** The button that toggles between the light and the dark theme. */
function ThemeButton() {
  const [now, next] = isDark() ? ["dark", "light"] : ["light", "dark"];
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Colours: ${now}. Change to ${next}`}
      title={`Change to ${next} colours`}
      onClick={toggleTheme}
    >
      <span aria-hidden="true">{now === "dark" ? "☾" : "☀"}</span>
    </button>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M6 25 16 6l10 19" />
      <circle cx="6" cy="25" r="3.5" />
      <circle cx="26" cy="25" r="3.5" />
      <circle class="far" cx="16" cy="6" r="3.5" />
    </svg>
  );
}
