import { expect, test } from "vitest";
import { afterKey, axisEnd, scaled, within } from "./span.ts";

const span = { from_s: 4, to_s: 6 };

test("a span stays within the run, and the entire run is undefined", () => {
  expect(within({ from_s: -1, to_s: 3 }, 10)).toEqual({ from_s: 0, to_s: 4 });
  expect(within({ from_s: 8, to_s: 12 }, 10)).toEqual({ from_s: 6, to_s: 10 });
  expect(within({ from_s: -5, to_s: 15 }, 10)).toBeUndefined();
});

test("a span grows around a time", () => {
  expect(scaled(span, 2, 4)).toEqual({ from_s: 4, to_s: 8 });
});

test("keys zoom and move", () => {
  expect(afterKey("+", span, 10)).toEqual({ from_s: 4.5, to_s: 5.5 });
  expect(afterKey("-", span, 10)).toEqual({ from_s: 3, to_s: 7 });
  expect(afterKey("ArrowLeft", span, 10)).toEqual({ from_s: 3.6, to_s: 5.6 });
  expect(afterKey("0", span, 10)).toBeUndefined();
  expect(afterKey("x", span, 10)).toBeNull();
});

test("the axis of an active run ends at round times, and at the run's end", () => {
  expect([axisEnd(0, 60), axisEnd(0.4, 60), axisEnd(11, 60), axisEnd(51, 60)]).toEqual([1, 0.5, 15, 60]);
});
