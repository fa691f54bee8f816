/** Changes of the network by drawing, each an edit of the text. */

import { effect, signal } from "@preact/signals";
import { taken } from "../app/state.ts";
import { tables } from "./network.ts";
import type { Path } from "./path.ts";
import { change, values } from "./values.ts";

/** Nodes that are drawn and have no link yet, so that they are not in the text. */
export const pending = signal<string[]>([]);

/** The selected link, flow or node. */
export const chosen = signal<{ path: Path } | { node: string } | undefined>(undefined);

// A new scenario discards the drawing of the one before.
effect(() => {
  void taken.value;
  pending.value = [];
  chosen.value = undefined;
});

/** Adds a link with its required keys only. */
export async function addLink(from: string, to: string): Promise<void> {
  if (!from || !to || from === to) {
    return;
  }
  const index = tables(values.value.now.links).length;
  await change(["links", index], { between: [from, to], rate: "10 Mbit/s", delay: "10 ms" });
  pending.value = pending.value.filter((name) => name !== from && name !== to);
  chosen.value = { path: ["links", index] };
}

export async function addFlow(from: string, to: string, congestion: string): Promise<void> {
  if (!from || !to || from === to) {
    return;
  }
  const index = tables(values.value.now.flows).length;
  await change(["flows", index], { from, to, ...(congestion ? { congestion } : {}) });
  chosen.value = { path: ["flows", index] };
}

/** Adds a node, which appears in the text with its first link. */
export function addNode(known: string[]): string {
  const names = new Set([...known, ...pending.value]);
  let number = names.size + 1;
  while (names.has(`node${number}`)) {
    number++;
  }
  const name = `node${number}`;
  pending.value = [...pending.value, name];
  return name;
}

/** Renames a node in all links and flows. */
export async function rename(before: string, after: string): Promise<void> {
  if (!after.trim() || before === after) {
    return;
  }
  pending.value = pending.value.map((name) => (name === before ? after : name));
  for (const path of mentions(before)) {
    await change(path, after);
  }
  chosen.value = { node: after };
}

/** Removes a node with its links and flows. */
export async function removeNode(name: string): Promise<void> {
  pending.value = pending.value.filter((other) => other !== name);
  chosen.value = undefined;
  const items = new Set(mentions(name).map(([section, index]) => JSON.stringify([section, index])));
  // In descending order, because later items move up after a removal.
  const paths = [...items].map((text) => JSON.parse(text) as [string, number]).sort((a, b) => b[1] - a[1]);
  for (const path of paths) {
    await change(path, null);
  }
}

/** Returns the paths of all values in the text that are the name of a node. */
function mentions(name: string): Path[] {
  const { links, flows } = values.value.now;
  const ends = tables(links).flatMap(({ between }, index) =>
    (Array.isArray(between) ? between : []).flatMap((end, side) =>
      end === name ? [["links", index, "between", side]] : [],
    ),
  );
  const uses = tables(flows).flatMap((flow, index) =>
    ["from", "to"].flatMap((key) => (flow[key] === name ? [["flows", index, key]] : [])),
  );
  return [...ends, ...uses];
}
