/** A scenario's network as a graph to draw: from the text where it lists links, else as the engine expands it. */

import type { Network } from "../engine/protocol.ts";
import { tables } from "./network.ts";
import { isTable } from "./path.ts";

export interface GraphNode {
  name: string;
  kind: string;
}

export interface GraphEdge {
  /** The place of the link in the text, or its name. */
  id: string;
  from: string;
  to: string;
  says: string;
  /** The link's number in the text. */
  index?: number;
}

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

/** The graph of links that the text lists, with nodes that have no link yet. */
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

/** The graph of a network that the engine has expanded. Both directions of a link are one edge. */
export function expanded(network: Network): Graph {
  // The sky and the ground, through which stations and satellites reach each other, are no places.
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

/** A rate in the unit that suits it. */
export function rate(bps: number): string {
  if (bps >= 1e14) {
    return "any rate";
  }
  const [unit, factor] =
    bps >= 1e9 ? ["Gbit/s", 1e9] : bps >= 1e6 ? ["Mbit/s", 1e6] : bps >= 1e3 ? ["kbit/s", 1e3] : ["bit/s", 1];
  return `${Number((bps / Number(factor)).toPrecision(4))} ${unit}`;
}

/** A time in the unit that suits it. */
export function time(seconds: number): string {
  return seconds >= 1 || seconds === 0
    ? `${Number(seconds.toPrecision(4))} s`
    : `${Number((seconds * 1e3).toPrecision(4))} ms`;
}

export interface Spot {
  x: number;
  y: number;
}

/** The most nodes above each other before they stand in a block. */
const MOST_ROWS = 40;

/** Places from left to right, or from the top down: a column for each number of hops from the nodes where flows start. */
export function columns({ nodes, edges, flows }: Graph, isTall = false): Map<string, Spot> {
  const ends = new Set(flows.map(({ to }) => to));
  const starts = flows.map(({ from }) => from).filter((from) => !ends.has(from));
  const depth = depths(edges, [starts, ...nodes.map(({ name }) => [name])]);
  const byColumn = new Map<number, string[]>();
  for (const { name } of nodes) {
    const column = depth.get(name) ?? 0;
    byColumn.set(column, [...(byColumn.get(column) ?? []), name]);
  }
  const spots = new Map<string, Spot>();
  let start = 0;
  for (const [, names] of [...byColumn].sort(([a], [b]) => a - b)) {
    // Many nodes stand in a block, as one column of them would be too thin to see.
    const rows = names.length <= MOST_ROWS ? names.length : Math.ceil(Math.sqrt(names.length * 2));
    const gap = rows > 16 ? 26 : Math.min(90, 720 / rows);
    names.forEach((name, index) => {
      const across = ((index % rows) - (rows - 1) / 2) * gap;
      const along = start + Math.floor(index / rows) * 26;
      spots.set(name, isTall ? { x: across, y: along * 0.6 } : { x: along, y: across });
    });
    start += 190 + (Math.ceil(names.length / rows) - 1) * 26;
  }
  return spots;
}

/** Hops from the first nodes; parts without a way to them start their own count. */
function depths(edges: GraphEdge[], starts: string[][]): Map<string, number> {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    next.set(from, [...(next.get(from) ?? []), to]);
    next.set(to, [...(next.get(to) ?? []), from]);
  }
  const depth = new Map<string, number>();
  for (const start of starts) {
    const queue = start.filter((name) => !depth.has(name));
    for (const name of queue) {
      depth.set(name, 0);
    }
    for (let at = 0; at < queue.length; at++) {
      const name = queue[at] ?? "";
      for (const other of next.get(name) ?? []) {
        if (!depth.has(other)) {
          depth.set(other, (depth.get(name) ?? 0) + 1);
          queue.push(other);
        }
      }
    }
  }
  return depth;
}

/** The graph on a map, without links that cross its edge, which would lead over the whole of it. */
export function onMap(graph: Graph, spots: Map<string, Spot>, width: number): Graph {
  const isShort = ({ from, to }: GraphEdge) =>
    Math.abs((spots.get(from)?.x ?? 0) - (spots.get(to)?.x ?? 0)) < width / 2;
  return { ...graph, edges: graph.edges.filter(isShort) };
}
