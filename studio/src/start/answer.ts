/** The complete run of the first screen, which gives the answer in words. */

import { signal } from "@preact/signals";
import { facts } from "../app/parts.ts";
import type { Account } from "../engine/analysis.ts";
import { engine } from "../engine/here.ts";
import type { Door, ScenarioInput, Summary } from "../engine/protocol.ts";
import { wholeRun } from "../save/whole.ts";

export interface Answer {
  account: Account;
  summary: Summary;
  flows: string[];
  links: string[];
  nodes: string[];
}

export const answer = signal<Answer | undefined>(undefined);
export const isComputing = signal(false);
export const fault = signal("");

/** Milliseconds without a change before the run starts, while a slider is moved. */
const REST = 120;

let own: Door | undefined;
let wanted = 0;

/** Runs a scenario, and updates the answer unless another scenario was requested meanwhile. */
export async function ask(input: ScenarioInput): Promise<void> {
  const number = ++wanted;
  isComputing.value = true;
  await new Promise((rest) => setTimeout(rest, answer.peek() ? REST : 0));
  if (number !== wanted) {
    return;
  }
  try {
    own ??= engine();
    const door = own;
    // The engine stays open for the next scenario.
    const [run, { accountOf }] = await Promise.all([
      wholeRun(input, {}, () => ({ ask: (request) => door.ask(request), close: () => undefined })),
      facts(),
    ]);
    if (number === wanted) {
      answer.value = { ...run, account: accountOf(run) };
      fault.value = "";
    }
  } catch (error) {
    if (number === wanted) {
      fault.value = error instanceof Error ? error.message : String(error);
    }
  } finally {
    if (number === wanted) {
      isComputing.value = false;
    }
  }
}

/** Ends the engine of the answers. */
export function rest(): void {
  wanted++;
  own?.close();
  own = undefined;
  isComputing.value = false;
}
