/** Light or dark: the system's setting until the user chooses. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "lightlag-theme";

export const theme = signal<Theme>(kept());

const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemIsDark = signal(system?.matches ?? false);
system?.addEventListener("change", (event) => {
  systemIsDark.value = event.matches;
});

/** Returns true if the page is dark now. */
export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemIsDark.value);
}

/** The themes in the order of the button: the first click on a page that follows the system changes its colours. */
export function nextTheme(): Theme {
  const order: Theme[] = systemIsDark.value ? ["system", "light", "dark"] : ["system", "dark", "light"];
  return order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}

export function changeTheme(): void {
  theme.value = nextTheme();
}

/** Shows the other look, whatever the system's is. */
export function toggleTheme(): void {
  theme.value = isDark() ? "light" : "dark";
}

/** Updates the document's theme. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // A page without storage forgets the choice.
    }
  });
}

function kept(): Theme {
  try {
    const word = localStorage.getItem(KEY);
    return word === "light" || word === "dark" ? word : "system";
  } catch {
    return "system";
  }
}

/** Returns a colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Colours of Okabe and Ito (2008), with dash patterns, in the order in which lines take them. */
export const SERIES = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"] as const;
export const DASHES: number[][] = [
  [],
  [6, 2],
  [1.5, 2],
  [7, 2, 1.5, 2],
  [3.2, 1.6],
  [7, 2, 1.5, 2, 1.5, 2],
  [10, 3],
  [4, 1.5],
];
