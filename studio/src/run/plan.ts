/** Plan of a network's animation: nodes, with identical ones merged, and links with both directions. */

import { columns, type Spot } from "../app/layout.ts";
import type { Network, NetworkLink } from "../engine/protocol.ts";

export interface PlanNode {
  name: string;
  kind: string;
  /** Indices of the node in the network; several if identical nodes are drawn as one. */
  numbers: number[];
}

/** One direction of a link. */
export interface Direction {
  from: number;
  to: number;
  /** Indices of links: several if identical nodes are drawn as one. */
  links: number[];
  rate_bps: number;
  delay_s: number;
}

/** A line between two nodes of the plan, with its directions. */
export interface Line {
  a: number;
  b: number;
  directions: Direction[];
}

export interface Plan {
  nodes: PlanNode[];
  lines: Line[];
  /** The node of the plan for each node of the network that is drawn. */
  nodeOf: Map<number, number>;
  spots: Spot[];
  /** Corners of the view, if nodes move. */
  extent?: Spot[];
}

/** Maximum number of identical nodes that are drawn individually. */
const MOST_ALIKE = 10;

/** Returns the plan of static links. Links of a constellation are left out, and so are radios, which have no links. */
export function wired(network: Network, isTall: boolean): Plan {
  const { nodes, links, flows, sky } = network;
  const isDrawn = (node: number) => sky === null || node < sky.first - 2 || nodes[node]?.kind === "station";
  const drawn = links.map((link, number) => ({ ...link, number }));
  const shown = drawn.filter(({ from, to }) => isDrawn(from) && isDrawn(to) && nodes[from] && nodes[to]);
  const ends = shown.flatMap(({ from, to }) => [from, to]);
  const used = new Set([...ends, ...flows.flatMap(({ from, to }) => [from, to])].filter((node) => nodes[node]));
  const grouped = groups(network, shown, [...used]);
  return laidOut(network, grouped, shown, isTall);
}

/** Groups identical leaves of a node: leaves of the same kind that are all senders, or all receivers. */
function groups(network: Network, links: NetworkLink[], used: number[]): PlanNode[] {
  const around = new Map<number, Set<number>>();
  for (const { from, to } of links) {
    around.set(from, (around.get(from) ?? new Set()).add(to));
    around.set(to, (around.get(to) ?? new Set()).add(from));
  }
  const senders = new Set(network.flows.map(({ from }) => from));
  const byLikeness = new Map<string, number[]>();
  for (const node of used) {
    const next = around.get(node);
    const isLeaf = next?.size === 1;
    const key = isLeaf ? `${[...next]} ${network.nodes[node]?.kind} ${senders.has(node)}` : `${node} alone`;
    byLikeness.set(key, [...(byLikeness.get(key) ?? []), node]);
  }
  return [...byLikeness.values()].flatMap((alike) => {
    const one = (numbers: number[]): PlanNode => {
      const first = network.nodes[numbers[0] ?? 0];
      const last = network.nodes[numbers.at(-1) ?? 0];
      const name = numbers.length === 1 ? first?.name : `${first?.name} … ${last?.name} (${numbers.length})`;
      return { name: name ?? "", kind: first?.kind ?? "router", numbers };
    };
    return alike.length > MOST_ALIKE ? [one(alike)] : alike.map((node) => one([node]));
  });
}

function laidOut(network: Network, nodes: PlanNode[], links: (NetworkLink & { number: number })[], isTall: boolean) {
  const nodeOf = new Map(nodes.flatMap(({ numbers }, index) => numbers.map((number) => [number, index] as const)));
  const lines = new Map<string, Line>();
  for (const { from, to, number, rate_bps, delay_s } of links) {
    const [start, end] = [nodeOf.get(from), nodeOf.get(to)];
    if (start === undefined || end === undefined || start === end) {
      continue;
    }
    const [a, b] = start < end ? [start, end] : [end, start];
    const line = lines.get(`${a} ${b}`) ?? { a, b, directions: [] };
    lines.set(`${a} ${b}`, line);
    const before = line.directions.find((direction) => direction.from === start);
    if (before) {
      before.links.push(number);
    } else {
      line.directions.push({ from: start, to: end, links: [number], rate_bps, delay_s });
    }
  }
  const plan = { nodes, lines: [...lines.values()], nodeOf };
  const flows = network.flows.map(({ from, to }) => [nodeOf.get(from), nodeOf.get(to)] as const);
  return { ...plan, spots: spotsOf(plan, flows, isTall) };
}

/** Returns the plan of radios from above, with their wired nodes at the right; `places` are metres. */
export function above(network: Network, radios: number[], places: Float32Array): Plan {
  const plan = wired(network, false);
  const [xs, ys] = [places.filter((_, at) => at % 3 === 0), places.filter((_, at) => at % 3 === 1)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [south, north] = [Math.min(...ys), Math.max(...ys)];
  const isRadio = new Set(radios);
  const rest = plan.nodes.filter(({ numbers: [number = -1] }) => !isRadio.has(number));
  const kept: PlanNode[] = radios.map((number) => {
    const node = network.nodes[number];
    return { name: node?.name ?? "", kind: node?.kind ?? "radio", numbers: [number] };
  });
  const nodes = [...kept, ...rest];
  const nodeOf = new Map(nodes.flatMap(({ numbers }, index) => numbers.map((number) => [number, index] as const)));
  const again = (index: number) => nodeOf.get(plan.nodes[index]?.numbers[0] ?? -1) ?? 0;
  const lines = plan.lines.map(({ a, b, directions }) => ({
    a: again(a),
    b: again(b),
    directions: directions.map((way) => ({ ...way, from: again(way.from), to: again(way.to) })),
  }));
  const beside = right + (right - left) * 0.25;
  const spots = nodes.map((_, index) => ({
    x: beside,
    y: -south - ((north - south) * (index - kept.length + 1)) / (rest.length + 1),
  }));
  const around = Math.max(1, right - left) * 0.04;
  const extent = [
    { x: left - around, y: -north - around },
    { x: rest.length > 0 ? beside : right + around, y: -south + around },
  ];
  return moved({ nodes, lines, nodeOf, spots, extent }, places);
}

/** Returns the same plan with other positions of its first nodes, which are radios. */
export function moved(plan: Plan, places: Float32Array): Plan {
  const spots = plan.spots.map((spot, index) =>
    index * 3 < places.length ? { x: places[index * 3] ?? 0, y: -(places[index * 3 + 1] ?? 0) } : spot,
  );
  return { ...plan, spots };
}

/**
 * Returns a function that finds the indices of the links from a node to the next one on a path. All satellites share
 * the links to and from the satellite segment, and so do all ground stations.
 */
export function linksBetween({ nodes, links, sky }: Network): (from: number, to: number) => number[] {
  const byStart = new Map<number, { number: number; to: number }[]>();
  links.forEach(({ from, to }, number) => {
    byStart.set(from, [...(byStart.get(from) ?? []), { number, to }]);
  });
  // The two nodes before the satellites stand for all of them, and for the ground.
  const shared = (to: number) => (sky === null ? -1 : nodes[to]?.kind === "station" ? sky.first - 1 : sky.first - 2);
  return (from, to) => {
    const all = byStart.get(from) ?? [];
    const own = all.filter((link) => link.to === to);
    return (own.length > 0 ? own : all.filter((link) => link.to === shared(to))).map(({ number }) => number);
  };
}

/** Returns the plan of changing paths, such as those over satellites: nodes by their indices in the network. */
export function ofWays(
  ways: number[][],
  nameOf: (node: number) => string,
  kindOf: (node: number) => string,
  isTall: boolean,
  linksOf: (from: number, to: number) => number[],
): Plan {
  const numbers = [...new Set(ways.flat())];
  const nodes = numbers.map((number) => ({ name: nameOf(number), kind: kindOf(number), numbers: [number] }));
  const nodeOf = new Map(numbers.map((number, index) => [number, index]));
  const lines = new Map<string, Line>();
  for (const way of ways) {
    for (let hop = 1; hop < way.length; hop++) {
      const [one, other] = [nodeOf.get(way[hop - 1] ?? -1) ?? 0, nodeOf.get(way[hop] ?? -1) ?? 0];
      const [a, b] = one < other ? [one, other] : [other, one];
      const direction = (from: number, to: number) => {
        const links = linksOf(numbers[from] ?? -1, numbers[to] ?? -1);
        return { from, to, links, rate_bps: 0, delay_s: 0 };
      };
      lines.set(`${a} ${b}`, { a, b, directions: [direction(a, b), direction(b, a)] });
    }
  }
  const plan = { nodes, lines: [...lines.values()], nodeOf };
  const flows = ways.map((way) => [nodeOf.get(way[0] ?? -1), nodeOf.get(way.at(-1) ?? -1)] as const);
  return { ...plan, spots: spotsOf(plan, flows, isTall) };
}

function spotsOf(
  { nodes, lines }: Pick<Plan, "nodes" | "lines">,
  flows: (readonly [number | undefined, number | undefined])[],
  isTall: boolean,
): Spot[] {
  const name = (index: number | undefined) => String(index ?? "");
  const spots = columns(
    {
      nodes: nodes.map((_, index) => ({ name: name(index) })),
      edges: lines.map(({ a, b }) => ({ from: name(a), to: name(b) })),
      flows: flows.map(([from, to]) => ({ from: name(from), to: name(to) })),
    },
    isTall,
  );
  return nodes.map((_, index) => spots.get(name(index)) ?? { x: 0, y: 0 });
}
