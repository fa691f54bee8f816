import { expect, test } from "vitest";
import type { Network } from "../engine/protocol.ts";
import { above, moved, ofWays, wired } from "./plan.ts";

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

test("a few leaves are drawn one by one, from left to right", () => {
  const plan = wired(star(3), false);
  expect(plan.nodes.map(({ name }) => name)).toEqual(["hub", "server", "leaf1", "leaf2", "leaf3"]);
  const x = (node: number) => plan.spots[plan.nodeOf.get(node) ?? -1]?.x ?? Number.NaN;
  expect(x(2)).toBeLessThan(x(0));
  expect(x(0)).toBeLessThan(x(1));
  expect(plan.lines).toHaveLength(4);
  expect(plan.lines.every(({ directions }) => directions.length === 2)).toBe(true);
});

test("a thousand alike leaves are one node with all their links", () => {
  const plan = wired(star(1000), false);
  expect(plan.nodes.map(({ name }) => name)).toEqual(["hub", "server", "leaf1 … leaf1000 (1000)"]);
  expect(plan.nodeOf.get(500)).toBe(plan.nodeOf.get(2));
  const bundle = plan.lines.find(({ directions }) => (directions[0]?.links.length ?? 0) > 1);
  expect(bundle?.directions.map(({ links }) => links.length)).toEqual([1000, 1000]);
});

test("ways over satellites become a plan: shared nodes once", () => {
  const plan = ofWays(
    [
      [0, 7, 8, 1],
      [0, 7, 9, 2],
    ],
    (node) => `n${node}`,
    () => "satellite",
    false,
  );
  expect(plan.nodes.map(({ name }) => name)).toEqual(["n0", "n7", "n8", "n1", "n9", "n2"]);
  expect(plan.lines).toHaveLength(5);
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
