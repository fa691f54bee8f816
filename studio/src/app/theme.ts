/** Light or dark: that of the system until somebody chooses. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "lightlag-theme";

export const theme = signal<Theme>(kept());

const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemIsDark = signal(system?.matches ?? false);
system?.addEventListener("change", (event) => {
  systemIsDark.value = event.matches;
});

/** Whether the page is dark now. */
export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemIsDark.value);
}

/** Changes between light and dark. The theme that the system has is stored as "system", so the page follows the system. */
export function toggleTheme(): void {
  const wantsDark = !isDark();
  theme.value = wantsDark === systemIsDark.value ? "system" : wantsDark ? "dark" : "light";
}

/** Keeps the document's theme as it is chosen. */
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

/** A colour of the style sheet, for what is painted by hand. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Colours of Okabe and Ito (2008), and dash patterns beside them, in the order in which lines take them. */
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
