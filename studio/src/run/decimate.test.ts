import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Blocks, binWidth, decimated, levelAt, placeOf } from "./decimate.ts";

test("an index is found in ascending numbers, on either side of equal ones", () => {
  const values = Float64Array.of(1, 2, 2, 5);
  expect([placeOf(values, 2, false), placeOf(values, 2, true), placeOf(values, 9, true)]).toEqual([1, 3, 4]);
});

describe("fewer points", () => {
  test("few points are unchanged, with one on each side", () => {
    const x = Float64Array.of(0, 1, 2, 3, 4, 5);
    expect([...decimated(x, x, 2.5, 3.5, 10).x]).toEqual([2, 3, 4]);
  });

  test("minimum and maximum remain, the points ascend, and their number is within the limit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: -9, max: 9 })), {
          minLength: 1,
          maxLength: 3000,
        }),
        fc.integer({ min: 8, max: 64 }),
        (rows, most) => {
          const x = Float64Array.from(rows, ([time]) => time).sort();
          const y = Float64Array.from(rows, ([, value]) => value);
          const blocks = new Blocks();
          blocks.extend(y);
          const found = decimated(x, y, 0, 1, most, blocks);
          expect(found).toEqual(decimated(x, y, 0, 1, most));
          expect(found.x.length).toBeLessThanOrEqual(Math.max(most, 4));
          expect([...found.x]).toEqual([...found.x].sort((a, b) => a - b));
          const known = y.filter((value) => !Number.isNaN(value));
          const kept = found.y.filter((value) => !Number.isNaN(value));
          if (known.length > 0) {
            expect([Math.min(...kept), Math.max(...kept)]).toEqual([Math.min(...known), Math.max(...known)]);
          }
        },
      ),
    );
  });

  test("a part without known values remains a gap", () => {
    const x = Float64Array.from({ length: 100 }, (_, at) => at);
    const y = x.map((at) => (at < 50 ? at : Number.NaN));
    expect(Number.isNaN(decimated(x, y, 0, 99, 10).y.at(-1) ?? 0)).toBe(true);
  });
});

test("a level is interpolated linearly between its rows", () => {
  const found = levelAt([0, 1, 2, 3, 9], Float64Array.of(1, 3), Float64Array.of(10, 30));
  expect([...found]).toEqual([0, 10, 20, 30, 30]);
});

test("bins are round, and as wide as in reports", () => {
  expect([binWidth(120), binWidth(10), binWidth(3600)]).toEqual([1, 0.1, 50]);
});
