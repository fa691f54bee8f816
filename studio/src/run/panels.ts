/** The animations of a run. A panel is one entry here, and is loaded when it is first opened. */

import { type ComponentType, h } from "preact";
import { useMemo } from "preact/hooks";
import { Lazy } from "../app/lazy.tsx";
import type { Watched } from "../app/watched.ts";
import type { Scenario } from "../engine/protocol.ts";

export interface Panel {
  id: string;
  title: string;
  /** Returns true if a panel applies to a scenario. */
  when(scenario: Scenario): boolean;
  component: ComponentType<{ live: Watched }>;
}

function lazy(title: string, load: () => Promise<{ default: ComponentType<{ live: Watched }> }>) {
  return function Later({ live }: { live: Watched }) {
    const part = useMemo(
      () => async () => {
        const { default: Part } = await load();
        return { default: () => h(Part, { live }) };
      },
      [live],
    );
    return h(Lazy, { name: title, load: part });
  };
}

function panel(id: string, title: string, when: Panel["when"], load: Parameters<typeof lazy>[1]): Panel {
  return { id, title, when, component: lazy(title, load) };
}

const hasSky = (scenario: Scenario) => Boolean(scenario.constellation);
const hasRadios = (scenario: Scenario) => {
  const topology = scenario.topology as { kind?: string } | undefined;
  return topology?.kind === "swarm" || (Array.isArray(scenario.media) && scenario.media.length > 0);
};

export const panels: Panel[] = [
  panel(
    "network",
    "Network",
    () => true,
    () => import("./topology.tsx"),
  ),
  panel(
    "space-time",
    "Space-time",
    () => true,
    () => import("./spacetime.tsx"),
  ),
  panel("globe", "Globe", hasSky, () => import("../space/globe.tsx")),
  panel("swarm", "Swarm", hasRadios, () => import("../space/swarm.tsx")),
];
