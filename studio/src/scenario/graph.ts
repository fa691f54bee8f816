/** A scenario's network as a graph to draw: from the text if it lists links, else expanded by the engine. */

import { type GraphEdge, type GraphNode, rate, type Spot, time } from "../app/layout.ts";
import type { Network } from "../engine/protocol.ts";
import { tables } from "./network.ts";
import { isTable } from "./path.ts";

export interface GraphFlow {
  from: string;
  to: string;
  name: string;
  index: number;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  flows: GraphFlow[];
  more: number;
}

/** Returns the graph of links in the text, with nodes that have no link yet. */
export function listed(values: Record<string, unknown>, pending: string[]): Graph {
  const links = tables(values.links);
  const flows = tables(values.flows).map(({ from, to, name }, index) => ({
    from: String(from ?? ""),
    to: String(to ?? ""),
    name: typeof name === "string" ? name : `${from} → ${to}`,
    index,
  }));
  const hosts = new Set(flows.flatMap(({ from, to }) => [from, to]));
  const edges = links.flatMap((link, index) => {
    const [from, to] = Array.isArray(link.between) ? link.between.map(String) : [];
    return from && to ? [{ id: `links[${index}]`, from, to, says: saysOf(link), index }] : [];
  });
  const names = new Set([...edges.flatMap(({ from, to }) => [from, to]), ...pending]);
  const nodes = [...names].map((name) => ({ name, kind: hosts.has(name) ? "host" : "router" }));
  return { nodes, edges, flows: flows.filter(({ from, to }) => names.has(from) && names.has(to)), more: 0 };
}

function saysOf({ rate, delay }: Record<string, unknown>): string {
  const short = (value: unknown): string =>
    typeof value === "string"
      ? value
      : isTable(value)
        ? [
            "forward" in value ? `${value.forward} / ${value.backward ?? "?"}` : "",
            value.orbit,
            value.distance,
            value.height,
          ]
            .filter((part) => typeof part === "string" && part)
            .join(" ")
        : "";
  return [short(rate), short(delay)].filter(Boolean).join("\n");
}

/** Returns the graph of an expanded network. Both directions of a link are one edge. */
export function expanded(network: Network): Graph {
  // The constellation and the ground, which connect stations and satellites, are not drawn as nodes.
  const first = network.sky?.first ?? 0;
  const isPlace = (number: number) => network.sky === null || (number !== first - 1 && number !== first - 2);
  const nameOf = (number: number) => (isPlace(number) ? (network.nodes[number]?.name ?? "") : "");
  const seen = new Set<string>();
  const edges = network.links.flatMap(({ name, from, to, rate_bps, delay_s }) => {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`;
    if (seen.has(key) || !nameOf(from) || !nameOf(to)) {
      return [];
    }
    seen.add(key);
    return [{ id: name, from: nameOf(from), to: nameOf(to), says: `${rate(rate_bps)}\n${time(delay_s)}` }];
  });
  const flows = network.flows.map(({ name, from, to }, index) => ({ name, from: nameOf(from), to: nameOf(to), index }));
  const nodes = network.nodes.filter((_, number) => isPlace(number));
  return { nodes, edges, flows: flows.filter(({ from, to }) => from && to), more: network.more.nodes };
}

/** Returns the graph on a map, without links that cross its edge, which would span the entire map. */
export function onMap(graph: Graph, spots: Map<string, Spot>, width: number): Graph {
  const isShort = ({ from, to }: GraphEdge) =>
    Math.abs((spots.get(from)?.x ?? 0) - (spots.get(to)?.x ?? 0)) < width / 2;
  return { ...graph, edges: graph.edges.filter(isShort) };
}
