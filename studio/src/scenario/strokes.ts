/** Changes of the network by drawing, each an edit of the text. */

import { effect, signal } from "@preact/signals";
import { taken } from "../app/state.ts";
import { tables } from "./network.ts";
import type { Path } from "./path.ts";
import { change, values } from "./values.ts";

/** Nodes that are drawn and have no link yet, so that the text does not know them. */
export const pending = signal<string[]>([]);

/** The link, flow or node that is chosen. */
export const chosen = signal<{ path: Path } | { node: string } | undefined>(undefined);

// Another scenario knows nothing of what was drawn for the one before.
effect(() => {
  void taken.value;
  pending.value = [];
  chosen.value = undefined;
});

/** A link with the least that it needs. */
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

/** A new node, which the text knows from its first link on. */
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

/** Another name for a node, wherever links and flows name it. */
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

/** A node goes with its links and flows. */
export async function removeNode(name: string): Promise<void> {
  pending.value = pending.value.filter((other) => other !== name);
  chosen.value = undefined;
  const items = new Set(mentions(name).map(([section, index]) => JSON.stringify([section, index])));
  // From the last on, as those behind one that goes move up.
  const paths = [...items].map((text) => JSON.parse(text) as [string, number]).sort((a, b) => b[1] - a[1]);
  for (const path of paths) {
    await change(path, null);
  }
}

/** Where the text names a node. */
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
