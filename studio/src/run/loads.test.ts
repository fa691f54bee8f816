import { expect, test } from "vitest";
import { rowAfter } from "./loads.ts";

test("arrow keys select the next object, from either end if none is selected", () => {
  expect(rowAfter("ArrowDown", undefined, 3)).toBe(0);
  expect(rowAfter("ArrowDown", 2, 3)).toBe(2);
  expect(rowAfter("ArrowUp", undefined, 3)).toBe(2);
  expect(rowAfter("ArrowUp", 0, 3)).toBe(0);
  expect(rowAfter("Home", 2, 3)).toBe(0);
  expect(rowAfter("End", 0, 3)).toBe(2);
});

test("Escape selects none, and other keys have no effect", () => {
  expect(rowAfter("Escape", 1, 3)).toBeUndefined();
  expect(rowAfter("Escape", undefined, 3)).toBeNull();
  expect(rowAfter("r", 1, 3)).toBeNull();
});
