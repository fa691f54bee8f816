/** What senders repair over time, a row for each flow. */

import type { WholeRun } from "../whole.ts";
import { type Axis, listed, type Panel, rounded } from "./charts.ts";

/** States of all flows together. */
const PARTS = 1500;

export type Numbers = ArrayLike<number>;

/** The rows of one flow or link of a table. */
export interface Rows {
  name: string;
  time: Numbers;
  of: (column: string) => Numbers;
}

/** The states of the first flows, and what they say in a sentence. */
export function states(run: WholeRun, flows: Rows[], axis: Axis, end: number): Panel {
  const names = run.tables.trace?.columns.phase?.names;
  const words = Array.isArray(names) ? names : [];
  const longestList = Math.max(Math.floor(PARTS / flows.length), 50);
  const said: string[] = [];
  const rows = flows.map(({ name, time, of }) => {
    const parts = changes(time, of("phase"), words, end);
    const away = parts.filter(([, , state]) => state !== "open");
    const seconds = away.reduce((sum, [from, to]) => sum + to - from, 0);
    said.push(
      `${name} repaired losses ${away.length} time${away.length === 1 ? "" : "s"}, for ${rounded(seconds, 3)} s`,
    );
    const shown = joined(parts, longestList).map(
      ([from, to, state]): Part => [rounded(from, 6) ?? 0, rounded(to, 6) ?? 0, state],
    );
    return { name, parts: shown };
  });
  const there = new Set(rows.flatMap(({ parts }) => parts.map(([, , state]) => state)));
  return {
    kind: "states",
    title: "",
    says: `States of senders: ${listed(said)}.`,
    x: axis,
    rows,
    states: ["open", "recovery", "loss"].filter((state) => there.has(state)),
  };
}

type Part = [from: number, to: number, state: string];

function changes(time: Numbers, phase: Numbers, words: string[], end: number): Part[] {
  const parts: Part[] = [];
  for (let row = 0; row < time.length; row++) {
    const now = time[row] ?? 0;
    const state = words[phase[row] ?? -1] ?? "open";
    const last = parts.at(-1);
    if (last?.[2] !== state) {
      if (last) {
        last[1] = now;
      }
      parts.push([now, end, state]);
    }
  }
  return parts;
}

/** Fewer parts: the shortest go into the one before them, until there are few enough. */
function joined(parts: Part[], most: number): Part[] {
  if (parts.length <= most) {
    return parts;
  }
  const lengths = parts.map(([from, to]) => to - from).sort((a, b) => a - b);
  const shortest = lengths[parts.length - most] ?? 0;
  const kept: Part[] = [];
  for (const [from, to, state] of parts) {
    const last = kept.at(-1);
    if (last && (last[2] === state || (to - from < shortest && state === "open"))) {
      last[1] = to;
    } else {
      kept.push([from, to, state]);
    }
  }
  return kept;
}
