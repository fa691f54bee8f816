import fc from "fast-check";
import { expect, test } from "vitest";
import { stretched } from "./pinch.ts";

const span = { from_s: 0, to_s: 10 };

test("times stay below the fingers", () => {
  // Fingers at 4 s and 6 s move to the ends: 2 s fill the chart.
  expect(stretched(span, [4, 6], [0, 1])).toEqual({ from_s: 4, to_s: 6 });
  // Whichever finger was first.
  expect(stretched(span, [6, 4], [1, 0])).toEqual({ from_s: 4, to_s: 6 });
  // Two fingers that move in parallel move the chart.
  expect(stretched(span, [4, 6], [0.25, 0.45])).toEqual({ from_s: expect.closeTo(1.5), to_s: expect.closeTo(11.5) });
});

test("fingers above each other, or crossing, only move the chart", () => {
  expect(stretched(span, [5, 5], [0.7, 0.7])).toEqual({ from_s: -2, to_s: 8 });
  expect(stretched(span, [4, 6], [0.6, 0.4])).toEqual({ from_s: expect.closeTo(0), to_s: expect.closeTo(10) });
});

test("both times are at the fingers", () => {
  const pair = fc
    .tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 50, max: 100 }))
    .map(([first, apart]): [number, number] => [first / 1000, (first + apart) / 1000]);
  fc.assert(
    fc.property(pair, pair, ([a, b], [p, q]) => {
      const { from_s, to_s } = stretched({ from_s: 0, to_s: 1 }, [a, b], [p, q]);
      expect(from_s + p * (to_s - from_s)).toBeCloseTo(a, 9);
      expect(from_s + q * (to_s - from_s)).toBeCloseTo(b, 9);
    }),
  );
});
