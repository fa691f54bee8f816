/** The network that the scenario describes, expanded by the engine. */

import { computed, effect, signal } from "@preact/signals";
import { checked, door, scenarioInput, taken, toml } from "../app/state.ts";
import type { Network } from "../engine/protocol.ts";
import { isTable } from "./path.ts";
import { values } from "./values.ts";

export const network = signal<Network | undefined>(undefined);

/** Whether the text lists the network, so that it can be edited by drawing. */
export const isListed = computed(() => {
  const { topology, constellation, nodes, media } = values.value.now;
  return !topology && !constellation && !nodes && !media;
});

/** Names of nodes in the text or the network. */
export const nodeNames = computed(() => {
  const { links, nodes, stations } = values.value.now;
  const names = new Set<string>();
  for (const link of tables(links)) {
    for (const end of Array.isArray(link.between) ? link.between : []) {
      names.add(String(end));
    }
  }
  for (const { name } of [...tables(nodes), ...tables(stations)]) {
    names.add(String(name));
  }
  for (const { name, kind } of network.value?.nodes.slice(0, 500) ?? []) {
    if (kind !== "satellite") {
      names.add(name);
    }
  }
  return [...names].filter(Boolean);
});

/** Returns the tables of a list, without its other items. */
export function tables(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isTable) : [];
}

/** Updates the network while a view shows it. */
export function keepNetwork(): () => void {
  let era = taken.peek();
  return effect(() => {
    if (era !== taken.value) {
      era = taken.value;
      network.value = undefined;
    }
    if (checked.value && checked.value.errors.length === 0) {
      const now = scenarioInput();
      door()
        .ask({ op: "network", ...now })
        .then(
          (answer) => {
            if (!answer.errors && now.toml === toml.peek()) {
              network.value = answer;
            }
          },
          () => undefined,
        );
    }
  });
}
