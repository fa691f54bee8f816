import { expect, test } from "vitest";
import { figureOf } from "./charts.tsx";

const CHART = { title: "round trip", short: "SRTT", unit: "ms", zero: false };
const WAYS = [{ name: "a->b" }, { name: "a->c" }];

test("a chart has the measured flows, each in the colour of its path", () => {
  const series = [
    { way: 0, values: [null, null, null] },
    { way: 1, values: [50, null, 90], thin: true },
  ];
  const { lines, ends, bottom, top } = figureOf({ ...CHART, series }, WAYS, 20);
  expect(lines).toEqual([{ name: "a->c", x: [0, 10, 20], y: [50, Number.NaN, 90], at: 1, width: 0.8 }]);
  expect([ends, bottom, top]).toEqual([{ from: 0, to: 20 }, 50, 90]);
});

test("the peak of a start does not flatten the rest", () => {
  const values = [...Array.from({ length: 200 }, () => 40), 4000];
  const { bottom, top } = figureOf({ ...CHART, zero: true, series: [{ way: 0, values }] }, WAYS, 20);
  expect(bottom).toBe(0);
  expect(top).toBeLessThan(100);
});

test("a chart without any value is empty", () => {
  expect(figureOf({ ...CHART, series: [{ way: 0, values: [null, null] }] }, WAYS, 20).lines).toEqual([]);
});
