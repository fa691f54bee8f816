/** The scenario of the first screen: a preset, with the loss and the algorithm that the user chooses. */

import { computed, signal } from "@preact/signals";
import { presets } from "../app/presets.ts";
import { door, files, toml } from "../app/state.ts";
import type { ScenarioInput } from "../engine/protocol.ts";

const preset = presets.find(({ name }) => name === "geo");
const BASE = preset?.toml ?? "";

/** Losses of the slider, as fractions of the packets. */
export const LOSSES = [0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2];

/** Start of the animation in seconds, and seconds of the run per second. */
export const FROM_S = 1.2;
export const PACE = 0.25;

const LOSS = "links.1.loss";
const CONGESTION = "defaults.tcp.congestion";
/** The algorithm of the preset, and the other one. */
export const ALGORITHMS = { cubic: "CUBIC", bbr: "BBR" } as const;
export type Algorithm = keyof typeof ALGORITHMS;

export const loss = signal(1e-4);
export const algorithm = signal<Algorithm>("cubic");

export const input = computed<ScenarioInput>(() => ({
  toml: BASE,
  sets: [
    [LOSS, String(loss.value)],
    [CONGESTION, algorithm.value],
  ],
}));

/** The text that the first screen wrote last. As long as it is the page's scenario, changes are written to it. */
let last = BASE;

/** Returns the text of the scenario with the choices. */
export async function written(): Promise<string> {
  let text = BASE;
  if (loss.peek() !== 1e-4) {
    text = (await door().ask({ op: "edit", toml: text, path: "links[1].loss", value: loss.peek() })).toml;
  }
  if (algorithm.peek() !== "cubic") {
    text = (await door().ask({ op: "edit", toml: text, path: CONGESTION, value: algorithm.peek() })).toml;
  }
  return text;
}

/** Writes the choices to the page's scenario, unless the user has opened another one. */
export async function write(): Promise<void> {
  const text = await written();
  if (toml.peek() === last && Object.keys(files.peek()).length === 0) {
    toml.value = text;
    last = text;
  }
}

/** Makes the scenario of the first screen the page's. */
export async function adopt(): Promise<void> {
  const text = await written();
  last = text;
  if (toml.peek() !== text) {
    files.value = {};
    toml.value = text;
  }
}
