/** What several views need. */

import { batch, computed, signal } from "@preact/signals";
import { engine } from "../engine/here.ts";
import type { About, Asked, Checked, Door } from "../engine/protocol.ts";
import type { Address } from "../engine/socket.ts";
import type { Live } from "../run/live.ts";
import { presets } from "./presets.ts";

const first = presets.find(({ name }) => name === "geo") ?? presets[0];

/** The scenario as text: the one truth, from which the form and the drawing are made. */
export const toml = signal(first?.toml ?? "");

/** The files that the scenario names, in base 64. */
export const files = signal<Record<string, string>>({});

/** The engine's word on the text: undefined until the first answer, and of an older text for a moment after a change. */
export const checked = signal<Checked | undefined>(undefined);

/** What the engine is: its version, algorithms, profiles and kinds of warnings. */
export const about = signal<About | undefined>(undefined);

/** Whether the text is one that runs. */
export const isSound = computed(() => checked.value !== undefined && checked.value.errors.length === 0);

/** The scenario's name, as the text gives it. */
export const title = computed(() => {
  const name = checked.value?.scenario?.name;
  return typeof name === "string" ? name : (/^\s*name\s*=\s*"([^"\n]*)"/m.exec(toml.value)?.[1] ?? "scenario");
});

/** The scenario as requests take it. */
export function asked(): Asked {
  return { toml: toml.value, files: files.value };
}

/** The seed of runs in place of the scenario's own. */
export const seed = signal<number | undefined>(undefined);

/** A scenario with changes, as one of several that are compared. */
export interface Variant {
  name: string;
  sets: [path: string, value: string][];
}

/** The variants that are compared. */
export const variants = signal<Variant[]>([]);

/** How many seeds each variant runs with. */
export const seeds = signal(10);

/** How often another scenario was taken. */
export const taken = signal(0);

/** Takes another scenario. */
export function take(text: string, itsFiles: Record<string, string> = {}): void {
  batch(() => {
    files.value = itsFiles;
    toml.value = text;
    taken.value++;
  });
}

/** The engine behind `lightlag studio`, while it is chosen in place of the page's own. */
export const elsewhere = signal<{ door: Door; address: Address; cores: number } | undefined>(undefined);

let small: Door | undefined;

/** The engine for short questions: checks, edits, networks. Runs have engines of their own. */
export function door(): Door {
  small ??= engine();
  return elsewhere.peek()?.door ?? small;
}

/** The run that was started last, while it goes on and after it. */
export const live = signal<Live | null>(null);
