/** Layout of nodes that have no coordinates, and formats of rates and times. */

export interface GraphNode {
  name: string;
  kind: string;
}

export interface GraphEdge {
  /** Path of the link in the scenario text, such as `links[0]`; in an expanded network the name of the link. */
  id: string;
  from: string;
  to: string;
  says: string;
  /** Index of the link in the scenario text. */
  index?: number;
}

/** Formats a rate in a suitable unit. */
export function rate(bps: number): string {
  if (bps >= 1e14) {
    return "any rate";
  }
  const [unit, factor] =
    bps >= 1e9 ? ["Gbit/s", 1e9] : bps >= 1e6 ? ["Mbit/s", 1e6] : bps >= 1e3 ? ["kbit/s", 1e3] : ["bit/s", 1];
  return `${Number((bps / Number(factor)).toPrecision(4))} ${unit}`;
}

/** Returns the unit of a time as a person writes it, and its length in seconds. */
export function unitOfTime(seconds: number): [unit: string, length_s: number] {
  const [unit, length_s] = TIMES.find(([, , from_s]) => seconds >= from_s) ?? ["ms", 1e-3];
  return [unit, length_s];
}

/** Units of time, their lengths, and the minimum time that is written in each, in seconds. */
const TIMES: [unit: string, length_s: number, from_s: number][] = [
  ["h", 3600, 7200],
  ["min", 60, 120],
  ["s", 1, 1],
];

/** Formats a time in a suitable unit. */
export function time(seconds: number): string {
  if (Number.isNaN(seconds)) {
    return "–";
  }
  const [unit, length_s] = seconds === 0 ? ["s", 1] : unitOfTime(seconds);
  return `${Number((seconds / Number(length_s)).toPrecision(4))} ${unit}`;
}

/** The graph to lay out; flows determine the left side. */
export interface Laid {
  nodes: Pick<GraphNode, "name">[];
  edges: Pick<GraphEdge, "from" | "to">[];
  flows: { from: string; to: string }[];
}

export interface Spot {
  x: number;
  y: number;
}

/** Maximum number of nodes in one column; more are laid out as a block. */
const MOST_ROWS = 40;

/** Arranges nodes from left to right, or top down: a column for each number of hops from the sources of flows. */
export function columns({ nodes, edges, flows }: Laid, isTall = false): Map<string, Spot> {
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
    // Many nodes form a block, because a single column of them would be too small.
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

/** Counts hops from the first nodes; components without a path to them start their own count. */
function depths(edges: Laid["edges"], starts: string[][]): Map<string, number> {
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
