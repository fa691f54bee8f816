/** The views. A view is one line here, and is loaded when it is first opened. */

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

export interface View {
  key: string;
  name: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const views: View[] = [
  { key: "scenario", name: "Scenario", load: () => import("../scenario/view.tsx") },
  { key: "run", name: "Run", load: () => import("../run/view.tsx") },
  { key: "compare", name: "Compare", load: () => import("../compare/view.tsx") },
];

/** Small things that stand at the right of the header, such as the button that shares. */
export const tools: View[] = [
  { key: "save", name: "Save", load: () => import("./saving.tsx") },
  { key: "share", name: "Share", load: () => import("../share/button.tsx") },
  { key: "help", name: "Help", load: () => import("../help/button.tsx") },
];

/** The view that is open: at first the one that the address names. */
export const view = signal<string>(known(new URLSearchParams(globalThis.location?.search).get("view")));

/** The key of a view that there is. */
function known(key: string | null | undefined): string {
  return views.find((other) => other.key === key)?.key ?? "scenario";
}

/** Opens a view. The browser's way back leads to the one before. */
export function open(key: string): void {
  if (view.value !== key) {
    history.pushState({ view: key }, "");
    view.value = key;
  }
}

globalThis.addEventListener?.("popstate", (event: PopStateEvent) => {
  view.value = known((event.state as { view?: string } | null)?.view);
});
