import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml as tomlMode } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { about, checked, toml } from "../app/state.ts";
import { completions, explain } from "./complete.ts";
import { difference } from "./difference.ts";
import { jump } from "./problems.tsx";

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--code-number)" },
  { tag: [tags.propertyName, tags.variableName, tags.definition(tags.variableName)], color: "var(--code-key)" },
  { tag: [tags.heading, tags.keyword, tags.bracket], color: "var(--code-heading)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--paper)", color: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    maxWidth: "440px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "260px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal", fontSize: "12px" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionInfo, .cm-lesson": { padding: "8px 12px", fontFamily: "var(--sans)", whiteSpace: "pre-line" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", padding: "4px 12px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
});

/** The editor of the scenario's text. */
export default function Editor() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) {
      return;
    }
    // The editor's rules are adopted by a shadow root, as the page allows no style elements.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({ doc: toml.peek(), extensions: extensions() }),
    });
    const ends = [followText(view), followProblems(view), followJumps(view), followSize(view)];
    return () => {
      for (const end of ends) {
        end();
      }
      view.destroy();
    };
  }, []);
  return <div class="editor" ref={host} />;
}

function extensions() {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    closeBrackets(),
    StreamLanguage.define(tomlMode),
    syntaxHighlighting(COLOURS),
    autocompletion({ override: [completions], icons: false }),
    hoverTooltip((view, position) => {
      const says = explain(view.state.doc.toString(), position);
      return says ? { pos: position, above: true, create: () => ({ dom: lesson(says) }) } : null;
    }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML", spellcheck: "false", tabindex: "0" }),
    EditorView.lineWrapping,
    LOOK,
    EditorView.updateListener.of((update) => {
      if (update.docChanged) {
        toml.value = update.state.doc.toString();
      }
    }),
  ];
}

function lesson(says: string): HTMLElement {
  const element = document.createElement("div");
  element.className = "cm-lesson";
  element.textContent = says;
  return element;
}

/** Applies changes of the text from other views as the smallest equivalent edit, so that it can be undone. */
function followText(view: EditorView): () => void {
  return effect(() => {
    const after = toml.value;
    const before = view.state.doc.toString();
    if (after !== before) {
      view.dispatch({ changes: difference(before, after) });
    }
  });
}

/** Marks errors and warnings at their positions. */
function followProblems(view: EditorView): () => void {
  let hadErrors = false;
  return effect(() => {
    const { errors = [], warnings = [] } = checked.value ?? {};
    const kinds = new Map(about.value?.warnings);
    const end = view.state.doc.length;
    const marks: Diagnostic[] = [
      ...errors.map((problem) => ({ ...range(problem, end), severity: "error" as const, message: problem.message })),
      ...warnings.map((advice) => ({
        ...range(advice, end),
        severity: "warning" as const,
        message: advice.message,
        source: kinds.get(advice.kind) ?? advice.kind,
      })),
    ];
    view.dispatch(setDiagnostics(view.state, marks));
    const [first] = errors;
    if (first?.from !== undefined && !hadErrors && !view.hasFocus) {
      showLine(view, Math.min(first.from, end), view.scrollDOM.clientHeight / 2);
    }
    hadErrors = errors.length > 0;
  });
}

/** Keeps the cursor's line in view when the editor becomes smaller, as it does when errors appear below it. */
function followSize(view: EditorView): () => void {
  let before = view.scrollDOM.clientHeight;
  const watch = new ResizeObserver(() => {
    const { clientHeight, scrollTop } = view.scrollDOM;
    const { top, bottom } = view.lineBlockAt(view.state.selection.main.head);
    const wasInView = bottom > scrollTop && top < scrollTop + before;
    before = clientHeight;
    if (view.hasFocus && wasInView) {
      showLine(view, view.state.selection.main.head, clientHeight - 2 * (bottom - top));
    }
  });
  watch.observe(view.scrollDOM);
  return () => watch.disconnect();
}

/**
 * Scrolls the text, not the page, so that a line is above the bottom of the editor and within `most` pixels of its
 * top.
 */
function showLine(view: EditorView, position: number, most: number): void {
  const { top } = view.lineBlockAt(position);
  const { scrollDOM } = view;
  if (top < scrollDOM.scrollTop) {
    scrollDOM.scrollTop = top;
  } else if (top - scrollDOM.scrollTop > most) {
    scrollDOM.scrollTop = top - Math.max(0, most);
  }
}

function range({ from = 0, to }: { from?: number; to?: number }, end: number): { from: number; to: number } {
  const start = Math.min(from, end);
  return { from: start, to: Math.min(Math.max(to ?? start, start), end) };
}

function followJumps(view: EditorView): () => void {
  return effect(() => {
    const place = jump.value;
    if (place) {
      const { from, to } = range(place, view.state.doc.length);
      view.dispatch({
        selection: { anchor: from, head: to },
        effects: EditorView.scrollIntoView(from, { y: "center" }),
      });
      view.focus();
      jump.value = undefined;
    }
  });
}
