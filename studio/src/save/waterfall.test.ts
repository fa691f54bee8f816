import { expect, test } from "vitest";
import { csv } from "./csv.ts";
import type { LoadedObject, PageLoad } from "./pages.ts";
import { drawnWaterfall, saysOf, saysOfObject, sheetOf } from "./waterfall.ts";

const load: PageLoad = {
  flow: "page",
  page: 1,
  objects: [
    { name: "a<b>", connection: "page", bytes: 600, known_s: 0, start_s: 1, firstByte_s: 2, end_s: 4 },
    { name: "icon", connection: "page.2", bytes: 400, known_s: 4, start_s: 6, firstByte_s: 8, end_s: 8 },
  ],
  took_s: 8,
  byteIndex_s: 4.2,
};

/** Returns the numbers of an attribute in all rectangles of bars. */
function bars(svg: string, attribute: string): number[][] {
  return [...svg.matchAll(/<g>(.*?)<\/g>/g)].map(([, bar = ""]) =>
    [...bar.matchAll(new RegExp(`<rect[^>]* ${attribute}="([^"]*)"`, "g"))].map(([, value]) => Number(value)),
  );
}

test("bars have the lengths of the times", () => {
  // Short names take 96 pixels and the right margin 16, so a second of 8 s is 111 pixels wide.
  const svg = drawnWaterfall({ title: "t", load }, { width: 1000 });
  expect(bars(svg, "x")).toEqual([
    [96, 207, 318],
    [540, 762, 984],
  ]);
  expect(bars(svg, "width")).toEqual([
    [111, 111, 222],
    [222, 222, 0.1],
  ]);
  expect(svg).toContain('points="96.0,');
  expect(svg).toMatch(/<line x1="984" x2="984"[^>]* stroke-dasharray="2 3"\/>.*>onLoad 8 s</);
});

test("each connection has a colour, on paper and on a dark page", () => {
  const colours = (isDark: boolean) =>
    [...drawnWaterfall({ title: "t", load }, { isDark }).matchAll(/ stroke="(#[0-9a-f]{6})"\/><\/g>/g)].map(
      ([, colour]) => colour,
    );
  expect(colours(false)).toEqual(["#0072b2", "#d55e00"]);
  expect(colours(true)).toEqual(["#4aa8e0", "#f08a3c"]);
});

test("names are text, and sentences have the numbers", () => {
  const svg = drawnWaterfall({ title: "t", load });
  expect(svg).toContain("<title>a&lt;b&gt;: 600 B over page, known 0 s, requested 1 s");
  expect(svg).not.toMatch(/NaN|undefined|style=/);
  expect(saysOf(load)).toBe(
    "Load 1 of the page of page: 2 objects over 2 connections, 1 kB; loaded after 8 s; ByteIndex 4.2 s.",
  );
  const [, icon] = load.objects as [LoadedObject, LoadedObject];
  expect(saysOfObject(icon)).toBe("icon: 400 B over page.2, known 4 s, requested 6 s, first byte 8 s, complete 8 s");
});

test("a load that is not complete has no mark", () => {
  const { took_s: _, byteIndex_s: __, ...torn } = load;
  expect(saysOf(torn)).toContain("not complete at the end of the run.");
  expect(drawnWaterfall({ title: "t", load: torn })).not.toContain("onLoad");
});

test("a page of many objects shows the first 200, and the curve of all", () => {
  const objects = Array.from({ length: 250 }, (_, at) => ({
    ...(load.objects[0] as LoadedObject),
    name: `o${at}`,
    firstByte_s: 2 + at,
    end_s: 3 + at,
  }));
  const svg = drawnWaterfall({ title: "t", load: { flow: "page", page: 1, objects } });
  expect(bars(svg, "x")).toHaveLength(200);
  expect(svg).toContain("250 objects over 1 connection, 150 kB");
  expect(svg).toContain("the first 200 are shown");
  expect(/points="([^"]*)"/.exec(svg)?.[1]?.split(" ")).toHaveLength(252);
});

test("as CSV with times since the start of the load", () => {
  expect(csv(sheetOf(load))).toBe(
    "object,connection,bytes,known_s,start_s,first_byte_s,end_s\na<b>,page,600,0,1,2,4\nicon,page.2,400,4,6,8,8\n",
  );
});
