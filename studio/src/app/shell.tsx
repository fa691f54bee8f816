import { useEffect, useRef } from "preact/hooks";
import { documentation, source } from "../help/documentation.ts";
import { focusContent, keepFocus } from "./focus.ts";
import { Lazy } from "./lazy.tsx";
import { title } from "./state.ts";
import { changeTheme, nextTheme, type Theme, theme } from "./theme.ts";
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
          <Links />
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

const THEMES: Record<Theme, [sign: string, name: string]> = {
  system: ["◐", "as the system"],
  light: ["☀", "light"],
  dark: ["☾", "dark"],
};

/** The button that changes between the colours of the system, light and dark. */
function ThemeButton() {
  const [sign, now] = THEMES[theme.value];
  const [, next] = THEMES[nextTheme()];
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Colours: ${now}. Change to: ${next}`}
      title={`Colours: ${now}. Change to: ${next}`}
      onClick={changeTheme}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}

/** Links to the documentation and the source, where the publisher of the page has given them. */
function Links() {
  const links = [
    ["Docs", "Documentation", documentation()],
    ["Source", "Source code", source()],
  ] as const;
  return links.map(
    ([name, title, address]) =>
      address && (
        <a class="tool-link" key={name} href={address} title={title} target="_blank" rel="noopener">
          {name}
        </a>
      ),
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
