/** Selection of a run's flows and links to show, and what is known of its network before it is over. */

import { effect, signal } from "@preact/signals";
import { door, live } from "../app/state.ts";
import type { Network } from "../engine/protocol.ts";
import type { Chosen } from "./figures.ts";
import type { Live } from "./live.ts";

/** Maximum number of flows with lines of their own. */
export const MOST_FLOWS = 8;
/** Number of links shown by default, those with the longest queues; and the maximum number. */
const LINKS = 4;
export const MOST_LINKS = 8;

/** Flows and links selected by the user; undefined for the default. */
const flows = signal<number[] | undefined>(undefined);
const links = signal<number[] | undefined>(undefined);
const network = signal<Network | undefined>(undefined);

/** Updates what is known of the network of the run. */
export function keepChosen(): () => void {
  return effect(() => {
    const run = live.value;
    flows.value = undefined;
    links.value = undefined;
    network.value = undefined;
    if (run) {
      const { toml, files } = run.input;
      door()
        .ask({ op: "network", toml, ...(files ? { files } : {}) })
        .then(
          (found) => {
            if (live.peek() === run) {
              network.value = found;
            }
          },
          // A run without a network drawing has no line of its capacity.
          () => undefined,
        );
    }
  });
}

/** Returns the flows that are shown: the first TCP flows, unless others were selected. */
export function flowsOf(run: Live): number[] {
  if (flows.value) {
    return flows.value;
  }
  const all = run.started.flows.map((_, flow) => flow);
  const datagrams = new Set(
    run.result.value
      ? run.result.value.summary.flows.filter(({ congestion }) => congestion === "udp").map(({ name }) => name)
      : network.value?.flows?.filter(({ transport }) => transport === "udp").map(({ name }) => name),
  );
  return all.filter((flow) => !datagrams.has(run.started.flows[flow] ?? "")).slice(0, MOST_FLOWS);
}

/** Returns the links that are shown: those with the longest queues, unless others were selected. */
export function linksOf(run: Live): number[] {
  if (links.value) {
    return links.value;
  }
  const longest = [...run.queues.value].sort((a, b) => b.most - a.most || a.link - b.link).slice(0, LINKS);
  return longest.map(({ link }) => link).sort((a, b) => a - b);
}

/** Shows or hides a flow or a link. */
export function toggle(what: "flow" | "link", run: Live, index: number): void {
  const [now, kept, most] = what === "flow" ? [flowsOf(run), flows, MOST_FLOWS] : [linksOf(run), links, MOST_LINKS];
  if (now.includes(index)) {
    kept.value = now.filter((other) => other !== index);
  } else if (now.length < most) {
    kept.value = [...now, index].sort((a, b) => a - b);
  }
}

/** Returns the selection of a run. */
export function chosen(run: Live): Chosen {
  return { flows: flowsOf(run), links: linksOf(run), capacity: (flow) => capacityOf(run, flow) };
}

/** Returns the rate of the slowest link on the path of a flow, where it is known and constant. */
function capacityOf(run: Live, flow: number): number | undefined {
  const name = run.started.flows[flow];
  const summary = run.result.value?.summary;
  if (summary) {
    const bottleneck = summary.flows.find((other) => other.name === name)?.bottleneck;
    return summary.links.find((link) => link.name === bottleneck)?.rate_bps ?? undefined;
  }
  const way = network.value?.flows?.find((other) => other.name === name)?.way;
  if (!way || way.length < 2) {
    return undefined;
  }
  const rates = way.slice(1).map((to, at) => {
    const from = way[at];
    return network.value?.links.find((link) => link.from === from && link.to === to)?.rate_bps;
  });
  return rates.includes(undefined) ? undefined : Math.min(...(rates as number[]));
}
