/** The values in the text of the scenario, valid or not. */

import { computed, signal } from "@preact/signals";
import { parse } from "smol-toml";
import { door, toml } from "../app/state.ts";
import { schemaOfScenarios } from "../engine/here.ts";
import { isTable, type Path, written } from "./path.ts";
import { Schemas } from "./schema.ts";
import type { Schema } from "./shapes.ts";

type Values = Record<string, unknown>;

/** Returns the values of a text, or undefined if it is not TOML. */
export function read(text: string): Values | undefined {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch {
    return undefined;
  }
}

let last: Values = {};

/**
 * The values, and whether they match the current text: while the text is not valid TOML, the last values are retained.
 */
export const values = computed<{ now: Values; isCurrent: boolean }>(() => {
  const now = read(toml.value);
  last = now ?? last;
  return { now: last, isCurrent: now !== undefined };
});

/** The schema, once it is loaded. */
export const schemas = signal<Schemas | undefined>(undefined);

export async function loadSchemas(): Promise<void> {
  schemas.value ??= new Schemas((await schemaOfScenarios()) as Schema);
}

/** Reason why the last edit was rejected. */
export const refusal = signal<string | undefined>(undefined);

/**
 * Returns the values to write one after another to set one value. In an item of a list, an empty string is written
 * before a table, so that the table becomes an inline table.
 */
export function parts(path: Path, value: unknown): unknown[] {
  const isWithin = typeof path.at(-1) === "string" && path.some((step) => typeof step === "number");
  return isWithin && isTable(value) ? ["", value] : [value];
}

let turn: Promise<void> = Promise.resolve();

/** Writes a value into the text at a path, and preserves the rest. `null` removes it. Edits are serialised. */
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
