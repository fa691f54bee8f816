/** The views. A view is one line here, and is loaded when it is first opened. */

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

export interface View {
  key: string;
  name: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const views: View[] = [
  { key: "start", name: "Start", load: () => import("../start/view.tsx") },
  { key: "scenario", name: "Scenario", load: () => import("../scenario/view.tsx") },
  { key: "run", name: "Run", load: () => import("../run/view.tsx") },
  { key: "compare", name: "Compare", load: () => import("../compare/view.tsx") },
];

/** Small controls at the right of the header, such as the share button. */
export const tools: View[] = [
  { key: "save", name: "Save", load: () => import("./saving.tsx") },
  { key: "share", name: "Share", load: () => import("../share/button.tsx") },
  { key: "help", name: "Help", load: () => import("../help/button.tsx") },
];

const initial = known(new URLSearchParams(globalThis.location?.search).get("view"));

/** The open view: initially the one in the address. */
export const view = signal<string>(initial);

/** Returns the key of an existing view. */
function known(key: string | null | undefined): string {
  return views.find((other) => other.key === key)?.key ?? "start";
}

/** Opens a view. The browser's back button returns to the previous view. */
export function open(key: string): void {
  if (view.value !== key) {
    history.pushState({ view: key }, "");
    view.value = key;
  }
}

globalThis.addEventListener?.("popstate", (event: PopStateEvent) => {
  const { view: key } = (event.state ?? {}) as { view?: string };
  view.value = key === undefined ? initial : known(key);
});
