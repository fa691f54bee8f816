/** The values that the text of the scenario holds, whether they make sense or not. */

import { computed, signal } from "@preact/signals";
import { parse } from "smol-toml";
import { door, toml } from "../app/state.ts";
import { schemaOfScenarios } from "../engine/here.ts";
import { isTable, type Path, written } from "./path.ts";
import { Schemas } from "./schema.ts";
import type { Schema } from "./shapes.ts";

type Values = Record<string, unknown>;

/** The values of a text, or undefined where it is not TOML. */
export function read(text: string): Values | undefined {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch {
    return undefined;
  }
}

let last: Values = {};

/** The values, and whether they are those of the text as it is now: a text that is not TOML keeps the last ones. */
export const values = computed<{ now: Values; isCurrent: boolean }>(() => {
  const now = read(toml.value);
  last = now ?? last;
  return { now: last, isCurrent: now !== undefined };
});

/** The schema, as soon as it is there. */
export const schemas = signal<Schemas | undefined>(undefined);

export async function loadSchemas(): Promise<void> {
  schemas.value ??= new Schemas((await schemaOfScenarios()) as Schema);
}

/** Why the last edit was refused. */
export const refusal = signal<string | undefined>(undefined);

/** The values to write one after another for one value. A table within a list item replaces a word, so that it stands inline. */
export function parts(path: Path, value: unknown): unknown[] {
  const isWithin = typeof path.at(-1) === "string" && path.some((step) => typeof step === "number");
  return isWithin && isTable(value) ? ["", value] : [value];
}

let turn: Promise<void> = Promise.resolve();

/** Writes a value into the text at a path, and keeps what else stands there. `null` takes it away. Edits come in turn. */
export function change(path: Path, value: unknown): Promise<void> {
  turn = turn.then(async () => {
    try {
      for (let isDone = false; !isDone; ) {
        const before = toml.peek();
        let after = before;
        for (const part of parts(path, value)) {
          after = (await door().ask({ op: "edit", toml: after, path: written(path), value: part })).toml;
        }
        isDone = toml.peek() === before;
        if (isDone) {
          toml.value = after;
        }
      }
      refusal.value = undefined;
    } catch (error) {
      refusal.value = error instanceof Error ? error.message : String(error);
    }
  });
  return turn;
}
