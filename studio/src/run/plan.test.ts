import { expect, test } from "vitest";
import type { Network } from "../engine/protocol.ts";
import { above, linksBetween, moved, ofWays, wired } from "./plan.ts";

/** A star: leaves send to a hub, and the hub to a server. */
function star(leaves: number): Network {
  const names = ["hub", "server", ...Array.from({ length: leaves }, (_, leaf) => `leaf${leaf + 1}`)];
  const pairs = [[0, 1], ...Array.from({ length: leaves }, (_, leaf) => [leaf + 2, 0])] as [number, number][];
  const links = pairs.flatMap(([a, b]) => [
    { name: "", from: a, to: b, rate_bps: 1e6, delay_s: 0.01 },
    { name: "", from: b, to: a, rate_bps: 2e6, delay_s: 0.01 },
  ]);
  return {
    nodes: names.map((name, node) => ({ name, kind: node === 0 ? "router" : "host" })),
    links,
    media: [],
    flows: pairs
      .slice(1)
      .map(([from]) => ({ name: "", from, to: 1, transport: "tcp", start_s: 0, transfer_bytes: null, way: null })),
    proxies: [],
    sky: null,
    more: { nodes: 0, links: 0, flows: 0 },
  };
}

test("a few leaves are drawn individually, from left to right", () => {
  const plan = wired(star(3), false);
  expect(plan.nodes.map(({ name }) => name)).toEqual(["hub", "server", "leaf1", "leaf2", "leaf3"]);
  const x = (node: number) => plan.spots[plan.nodeOf.get(node) ?? -1]?.x ?? Number.NaN;
  expect(x(2)).toBeLessThan(x(0));
  expect(x(0)).toBeLessThan(x(1));
  expect(plan.lines).toHaveLength(4);
  expect(plan.lines.every(({ directions }) => directions.length === 2)).toBe(true);
});

test("a thousand identical leaves are one node with all their links", () => {
  const plan = wired(star(1000), false);
  expect(plan.nodes.map(({ name }) => name)).toEqual(["hub", "server", "leaf1 … leaf1000 (1000)"]);
  expect(plan.nodeOf.get(500)).toBe(plan.nodeOf.get(2));
  const bundle = plan.lines.find(({ directions }) => (directions[0]?.links.length ?? 0) > 1);
  expect(bundle?.directions.map(({ links }) => links.length)).toEqual([1000, 1000]);
});

test("paths over satellites become a plan that has shared nodes once", () => {
  const plan = ofWays(
    [
      [0, 7, 8, 1],
      [0, 7, 9, 2],
    ],
    (node) => `n${node}`,
    () => "satellite",
    false,
    (from, to) => [10 * from + to],
  );
  expect(plan.lines[0]?.directions.map(({ links }) => links)).toEqual([[7], [70]]);
  expect(plan.nodes.map(({ name }) => name)).toEqual(["n0", "n7", "n8", "n1", "n9", "n2"]);
  expect(plan.lines).toHaveLength(5);
});

test("the queue of a station belongs to its link to all satellites", () => {
  const node = (name: string, kind: string) => ({ name, kind }) as Network["nodes"][number];
  const link = (from: number, to: number) => ({ name: "", from, to, rate_bps: 1, delay_s: 0 });
  const network = {
    nodes: [node("a", "station"), node("b", "station"), node("sky", "router"), node("ground", "router")].concat(
      [1, 2].map((number) => node(`s${number}`, "satellite")),
    ),
    links: [link(0, 2), link(1, 2), link(4, 3), link(5, 3), link(4, 5), link(5, 4)],
    sky: { first: 4, satellites: 2, stations: [0, 1] },
  } as unknown as Network;
  const between = linksBetween(network);
  expect([between(0, 4), between(4, 5), between(5, 1), between(1, 5), between(0, 1)]).toEqual([[0], [4], [3], [1], []]);
});

test("radios are seen from above, and move", () => {
  const network = star(2);
  const plan = above(network, [2, 3], Float32Array.of(0, 0, 5, 100, 50, 5));
  expect(plan.nodes.slice(0, 2).map(({ name }) => name)).toEqual(["leaf1", "leaf2"]);
  expect(plan.spots[1]).toEqual({ x: 100, y: -50 });
  expect(plan.spots[2]?.x).toBeGreaterThan(100);
  const later = moved(plan, Float32Array.of(10, 0, 5, 90, 50, 5));
  expect(later.spots[0]).toEqual({ x: 10, y: -0 });
  expect(later.spots[2]).toEqual(plan.spots[2]);
});
