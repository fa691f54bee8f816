/** The command that repeats a result, with a button that copies it. */

import { useSignal, useSignalEffect } from "@preact/signals";
import type { ScenarioInput } from "../engine/protocol.ts";
import { presets } from "./presets.ts";
import { door, type Variant } from "./state.ts";

/** Maximum number of settings in a command; a scenario with more differences is a file. */
const MOST_SETS = 6;
const CONGESTION = "defaults.tcp.congestion";

type Sets = [path: string, value: string][];

/** A command, and the file that it takes from the directory in which it runs. */
export interface Command {
  text: string;
  file?: string;
}

/** Returns an argument of a command as a POSIX shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the settings that make one parsed scenario of another; undefined if they differ in anything but values of
 * existing or new keys.
 */
export function differences(before: unknown, to: unknown, path = ""): Sets | undefined {
  // The settings of a new table create it.
  const from = before === undefined && isTree(to) && !Array.isArray(to) ? {} : before;
  if (isTree(from) && isTree(to) && Array.isArray(from) === Array.isArray(to)) {
    const keys = Object.keys(to);
    if (
      Object.keys(from).some((key) => !keys.includes(key)) ||
      (Array.isArray(to) && keys.length !== Object.keys(from).length)
    ) {
      return undefined;
    }
    const found: Sets = [];
    for (const key of keys) {
      const own = path ? `${path}.${key}` : key;
      const inner = differences((from as Tree)[key], (to as Tree)[key], own);
      if (!inner) {
        return undefined;
      }
      found.push(...inner);
    }
    return found;
  }
  if (from === to) {
    return [];
  }
  return isTree(to) || to === undefined ? undefined : [[path, String(to)]];
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !(value instanceof Date);
}

/** Returns the scenario of a command: a preset with settings, or a file that the user saves. */
async function scenarioOf({ toml, files = {} }: ScenarioInput): Promise<{ words: string[]; file?: string }> {
  const { parse } = await import("smol-toml");
  const name = /^\s*name\s*=\s*"([^"\n]*)"/m.exec(toml)?.[1] ?? "scenario";
  const preset = presets.find((one) => one.toml === toml) ?? presets.find((one) => one.name === name);
  if (preset && Object.keys(files).length === 0) {
    const sets = preset.toml === toml ? [] : differences(parse(preset.toml), parse(toml));
    if (sets && sets.length <= MOST_SETS && (await isSame({ toml: preset.toml, sets }, toml))) {
      return { words: [preset.name, ...sets.flatMap(([path, value]) => ["-s", `${path}=${value}`])] };
    }
  }
  const file = `${name.replace(/[^\w.-]+/g, "-")}.toml`;
  return { words: [file], file };
}

/** Returns true if the engine reads the same scenario from both. */
async function isSame(changed: ScenarioInput, toml: string): Promise<boolean> {
  if (changed.sets?.length === 0) {
    return true;
  }
  const [one, other] = [await door().ask({ op: "check", ...changed }), await door().ask({ op: "check", toml })];
  return one.scenario !== undefined && JSON.stringify(one.scenario) === JSON.stringify(other.scenario);
}

/** Returns the command that repeats a run. */
export async function runCommand(input: ScenarioInput, seed: number | undefined): Promise<Command> {
  const { words, ...rest } = await scenarioOf(input);
  const all = ["lightlag", "run", ...words, ...(seed === undefined ? [] : ["--seed", String(seed)])];
  return { text: all.map(quoted).join(" "), ...rest };
}

/** Returns the command that repeats a comparison; undefined if its variants are not the values of one key. */
export async function compareCommand(
  input: ScenarioInput,
  variants: Variant[],
  seeds: number | undefined,
): Promise<Command | undefined> {
  const [first] = variants;
  const key = first?.sets.length === 1 ? first.sets[0]?.[0] : undefined;
  if (key === undefined || !variants.every(({ sets }) => sets.length === 1 && sets[0]?.[0] === key)) {
    return undefined;
  }
  const all = variants.map(({ sets }) => sets[0]?.[1] ?? "").join(",");
  const { words, ...rest } = await scenarioOf(input);
  const axis = key === CONGESTION ? ["-c", all] : ["--vary", `${key}=${all}`];
  const text = ["lightlag", "compare", ...words, ...axis, ...(seeds === undefined ? [] : ["-n", String(seeds)])];
  return { text: text.map(quoted).join(" "), ...rest };
}

interface Repeated {
  title?: string;
  make: () => Promise<Command | undefined> | undefined;
}

/** A command with a button that copies it. `make` reads signals, and is called again when they change. */
export function Repeat({ title, make }: Repeated) {
  const found = useSignal<Command | undefined>(undefined);
  const said = useSignal("");
  useSignalEffect(() => {
    let isWanted = true;
    said.value = "";
    const made = make();
    if (!made) {
      found.value = undefined;
    }
    made?.then(
      (command) => {
        found.value = isWanted ? command : found.peek();
      },
      // Without an engine there is nothing to repeat, and the view states the error.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  });
  const command = found.value;
  if (!command) {
    return null;
  }
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command.text);
      said.value = "Copied.";
    } catch {
      said.value = "Select the command, and press Ctrl+C or ⌘C.";
    }
  };
  return (
    <div class="repeat">
      {title && <h3>{title}</h3>}
      <code>{command.text}</code>
      <button type="button" aria-label={`Copy: ${command.text}`} onClick={() => void copy()}>
        Copy
      </button>
      <span class="quiet" role="status">
        {said.value || (command.file && `${command.file}: Save, Scenario as TOML`)}
      </span>
    </div>
  );
}
