/** The analysis of results, which is a part of the engine and answers at once: tables, sentences and numbers as text. */

import { decode } from "./protocol.ts";
import type { Asks } from "./serving.ts";

/** A table of text: the heads of its columns, and rows with a text for each. */
export interface TextTable {
  title: string;
  columns: string[];
  rows: string[][];
}

/** Why a run was as fast as it was: a sentence, and flows, the slowest first, each with its sentences. */
export interface Account {
  headline: string;
  flows: [name: string, sentences: string[]][];
}

/** Requests, of which each is an object with one key. */
export type Analysis =
  | { text: { as: string; value: number; digits?: number | undefined } }
  | { factor: number }
  | { tables: Record<string, unknown> }
  | { told_senders: object }
  | { account: { run: object; recorded: object[] } };

let engine: Asks | undefined;

/** Gives this thread an engine that analyses. Whoever opens engines does this first. */
export function analyseWith(given: Asks): void {
  engine = given;
}

/**
 * Analyses.
 *
 * @throws {Error} if this thread has no engine yet; {@link EngineError} what is wrong with the request
 */
export function analysed<T>(request: Analysis): T {
  if (!engine) {
    throw new Error("an analysis was asked for before the engine was there");
  }
  const { answer } = decode(engine.ask(JSON.stringify({ op: "analyse", request }))) as { answer: T };
  return answer;
}
