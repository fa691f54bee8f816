/** The network that the scenario describes, expanded by the engine. */

import { computed, effect, signal } from "@preact/signals";
import { asked, checked, door, taken, toml } from "../app/state.ts";
import type { Network } from "../engine/protocol.ts";
import { isTable } from "./path.ts";
import { values } from "./values.ts";

export const network = signal<Network | undefined>(undefined);

/** Whether the network is listed in the text, so that it can be drawn on. */
export const isListed = computed(() => {
  const { topology, constellation, nodes, media } = values.value.now;
  return !topology && !constellation && !nodes && !media;
});

/** Names of nodes, as far as the text or the network knows them. */
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

/** The tables of a list, whatever else it holds. */
export function tables(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isTable) : [];
}

/** Keeps the network up to date while somebody looks at it. */
export function keepNetwork(): () => void {
  let era = taken.peek();
  return effect(() => {
    if (era !== taken.value) {
      era = taken.value;
      network.value = undefined;
    }
    if (checked.value && checked.value.errors.length === 0) {
      const now = asked();
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
