/** State shared by several views. */

import { batch, computed, signal } from "@preact/signals";
import { engine } from "../engine/here.ts";
import type { About, Checked, Door, ScenarioInput } from "../engine/protocol.ts";
import type { Address } from "../engine/socket.ts";
import type { Live } from "../run/live.ts";
import { presets } from "./presets.ts";

const first = presets.find(({ name }) => name === "geo") ?? presets[0];

/** The scenario as text: the single source of truth of the form and the drawing. */
export const toml = signal(first?.toml ?? "");

/** The files that the scenario names, in base 64. */
export const files = signal<Record<string, string>>({});

/** The engine's check of the text: undefined until the first response, and stale for a moment after a change. */
export const checked = signal<Checked | undefined>(undefined);

/** Description of the engine: its version, algorithms, profiles and kinds of warnings. */
export const about = signal<About | undefined>(undefined);

/** Whether the text is valid. */
export const isSound = computed(() => checked.value !== undefined && checked.value.errors.length === 0);

/** The scenario's name, as given in the text. */
export const title = computed(() => {
  const name = checked.value?.scenario?.name;
  return typeof name === "string" ? name : (/^\s*name\s*=\s*"([^"\n]*)"/m.exec(toml.value)?.[1] ?? "scenario");
});

/** Returns the scenario in the form that requests to the engine take. */
export function scenarioInput(): ScenarioInput {
  return { toml: toml.value, files: files.value };
}

/** Seed of runs, instead of the scenario's own. */
export const seed = signal<number | undefined>(undefined);

/** A scenario with changes, one of several in a comparison. */
export interface Variant {
  name: string;
  sets: [path: string, value: string][];
}

/** The variants that are compared. */
export const variants = signal<Variant[]>([]);

/** Number of seeds per variant. */
export const seeds = signal(10);

/** Whether the view that opens next starts its runs by itself, because the scenario came with a link. */
export const startsItself = signal(false);

/** Number of scenarios that were opened. */
export const taken = signal(0);

/** Opens another scenario. */
export function take(text: string, itsFiles: Record<string, string> = {}): void {
  batch(() => {
    files.value = itsFiles;
    toml.value = text;
    taken.value++;
  });
}

/** The engine of `lightlag studio`, while it is used instead of the page's own. */
export const elsewhere = signal<{ door: Door; address: Address; cores: number } | undefined>(undefined);

let small: Door | undefined;

/** Returns the engine for short queries: checks, edits, networks. Runs have engines of their own. */
export function door(): Door {
  small ??= engine();
  return elsewhere.peek()?.door ?? small;
}

/** The latest run, during and after it. */
export const live = signal<Live | null>(null);
