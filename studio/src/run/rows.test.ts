import { expect, test } from "vitest";
import { Rows } from "./rows.ts";

test("four rows become two, minimum and maximum in their original order", () => {
  const rows = new Rows(["a", "b"]);
  const a = [1, 9, 3, 4, Number.NaN, Number.NaN, Number.NaN, Number.NaN, 7];
  const b = [4, 3, 2, 1, 0, 5, Number.NaN, 2, 8];
  for (let row = 0; row < 9; row++) {
    rows.push(row, [a, b], row);
  }
  rows.thin(1);
  expect([...rows.times]).toEqual([0, 2, 4, 6, 8]);
  expect([...rows.column("a")]).toEqual([1, 9, Number.NaN, Number.NaN, 7]);
  expect([...rows.column("b")]).toEqual([4, 1, 0, 5, 8]);
});

test("rows are appended, and an unknown column is named", () => {
  const rows = new Rows(["a"]);
  for (let row = 0; row < 10_000; row++) {
    rows.push(row, [[row]], 0);
  }
  expect(rows.column("a").length).toBe(10_000);
  expect(rows.column("a")[9_999]).toBe(9_999);
  expect(() => rows.column("c")).toThrow('no column "c"; there are a');
});

test("later rows are decimated as much as earlier ones", () => {
  const rows = new Rows(["a"]);
  const push = (count: number) => {
    for (let row = 0; row < count; row++) {
      rows.push(rows.count, [[row]], 0);
    }
  };
  push(64);
  rows.thin(2);
  expect(rows.count).toBe(16);
  push(64);
  rows.thin(2);
  expect(rows.count).toBe(32);
  rows.thin(3);
  expect(rows.count).toBe(16);
});
