import { expect, test } from "vitest";
import { columns } from "../app/layout.ts";
import { presets } from "../app/presets.ts";
import type { Network } from "../engine/protocol.ts";
import { difference } from "./difference.ts";
import { expanded, listed, onMap } from "./graph.ts";
import { askedName, faultOfTrace } from "./trace.ts";
import { read } from "./values.ts";

const geo = read(presets.find(({ name }) => name === "geo")?.toml ?? "") ?? {};

test("has the links and flows of a text, and nodes without a link", () => {
  const graph = listed(geo, ["node4"]);
  expect(graph.nodes.map(({ name }) => name)).toEqual(["client", "gateway", "server", "node4"]);
  expect(graph.edges.map(({ id, says }) => [id, says])).toEqual([
    ["links[0]", "1 Gbit/s\n1 ms"],
    ["links[1]", "20 Mbit/s\ngeo"],
  ]);
  expect(graph.flows).toEqual([{ from: "client", to: "server", name: "client → server", index: 0 }]);
});

test("half-written links and flows are left out", () => {
  const graph = listed({ links: [{ between: ["a"] }, { rate: 3 }, 7], flows: [{ from: "a" }] }, []);
  expect(graph).toEqual({ nodes: [], edges: [], flows: [], more: 0 });
});

test("columns count hops from the sources of flows", () => {
  const spots = columns(listed(geo, ["alone"]));
  const at = (name: string) => spots.get(name)?.x;
  expect([at("client"), at("gateway"), at("server"), at("alone")]).toEqual([0, 190, 380, 0]);
  expect(spots.get("alone")?.y).not.toBe(spots.get("client")?.y);
});

test("a thousand nodes form a block, and no two have the same position", () => {
  const links = Array.from({ length: 1000 }, (_, index) => ({ between: [`n${index}`, "sink"] }));
  const flows = links.map(({ between }) => ({ from: between[0], to: "sink" }));
  const spots = [...columns(listed({ links, flows }, [])).values()];
  expect(new Set(spots.map(({ x, y }) => `${x} ${y}`)).size).toBe(1001);
  const spread = (values: number[]) => Math.max(...values) - Math.min(...values);
  expect(spread(spots.map(({ y }) => y)) / spread(spots.map(({ x }) => x))).toBeLessThan(3);
});

test("both directions of a link are one edge, and the constellation itself is not a node", () => {
  const link = (from: number, to: number) => ({ name: `${from}-${to}`, from, to, rate_bps: 2e7, delay_s: 0.004 });
  const network: Network = {
    nodes: ["A", "B", "sky", "ground", "s1", "s2"].map((name) => ({ name, kind: "satellite" })),
    links: [link(0, 2), link(4, 5), link(5, 4)],
    media: [],
    flows: [{ name: "f", from: 0, to: 1, transport: "tcp", start_s: 0, transfer_bytes: null, way: null }],
    proxies: [],
    sky: { first: 4, satellites: 2, stations: [0, 1] },
    more: { nodes: 0, links: 0, flows: 0 },
  };
  const graph = expanded(network);
  expect(graph.nodes.map(({ name }) => name)).toEqual(["A", "B", "s1", "s2"]);
  expect(graph.edges).toEqual([{ id: "4-5", from: "s1", to: "s2", says: "20 Mbit/s\n4 ms" }]);
  const far = new Map([
    ["s1", { x: -170, y: 0 }],
    ["s2", { x: 170, y: 0 }],
  ]);
  expect(onMap(graph, far, 360).edges).toEqual([]);
});

test("the smallest change between two texts", () => {
  expect(difference("rate = 1", "rate = 12")).toEqual({ from: 8, to: 8, insert: "2" });
  expect(difference("aa", "a")).toEqual({ from: 1, to: 2, insert: "" });
  expect(difference("", "x")).toEqual({ from: 0, to: 0, insert: "x" });
});

test("an invalid trace gives the reason", () => {
  expect(faultOfTrace("# from a modem\ntime_s,rate_bps\n0,1e6\n")).toBeUndefined();
  expect(faultOfTrace("seconds;rate\n0;1\n")).toContain('its first line is "seconds;rate"');
  expect(faultOfTrace("")).toContain("time_s");
});

test("a file has the name that the scenario gives it", () => {
  expect(askedName('trace = "sub/fade.csv"', "fade.csv")).toBe("sub/fade.csv");
  expect(askedName("trace = { file = 'fade.csv' }", "fade.csv")).toBe("fade.csv");
  expect(askedName('trace = "xfade.csv"', "fade.csv")).toBeUndefined();
  expect(askedName('name = "fadeXcsv"', "fade.csv")).toBeUndefined();
});
