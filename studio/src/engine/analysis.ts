/** The analysis of results, a part of the engine that responds synchronously: tables, sentences and numbers as text. */

import { decode } from "./protocol.ts";
import type { Asks } from "./serving.ts";

/** A table of text: the headings of its columns, and rows with a text for each column. */
export interface TextTable {
  title: string;
  columns: string[];
  rows: string[][];
}

/** Reason for the speed of a run: a sentence, and the flows with sentences about each, the slowest flow first. */
export interface Account {
  headline: string;
  flows: [name: string, sentences: string[]][];
}

/** Requests: a string, or an object with one key. JSON has no NaN, so it is sent as null. */
export type Analysis =
  | { text: { as: string; value: number; digits?: number | undefined } }
  | { factor: number }
  | { tables: Record<string, unknown> }
  | { told_senders: object }
  | { account: { run: object; recorded: object[] } }
  | "measures"
  | { usual_top: [times: number[], values: (number | null)[]][] }
  | { mean_interval: readonly number[] }
  | { shown: { unit: string; mean: number; half_width: number; count: number; like: number } }
  | { differences: { comparison: object; measure: string; base?: string } }
  | { answer: object }
  | { shares: object }
  | { charts: object };

let engine: Asks | undefined;

/** Sets the engine that analyses results in this thread. Code that opens engines calls this first. */
export function analyseWith(given: Asks): void {
  engine = given;
}

/**
 * Returns an analysis by this thread's engine.
 *
 * @throws {Error} if this thread has no engine yet; {@link EngineError} if the request is invalid
 */
export function analysed<T>(request: Analysis): T {
  if (!engine) {
    throw new Error("an analysis was requested before the engine was loaded");
  }
  const { answer } = decode(engine.ask(JSON.stringify({ op: "analyse", request }))) as { answer: T };
  return answer;
}
