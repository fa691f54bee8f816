/** The views. A view is one line here, and is loaded when it is first opened. */

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

export interface View {
  key: string;
  name: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const views: View[] = [{ key: "scenario", name: "Scenario", load: () => import("../scenario/view.tsx") }];

/** Small things that stand at the right of the header, such as the button that shares. */
export const tools: View[] = [];

/** The view that is open. */
export const view = signal<string>("scenario");

/** Opens a view. The browser's way back leads to the one before. */
export function open(key: string): void {
  if (view.value !== key) {
    history.pushState({ view: key }, "");
    view.value = key;
  }
}

globalThis.addEventListener?.("popstate", (event: PopStateEvent) => {
  const key = (event.state as { view?: string } | null)?.view ?? "scenario";
  view.value = views.some((known) => known.key === key) ? key : "scenario";
});
