import { expect, test } from "vitest";
import { overlap } from "./tags.ts";

test("names overlap if they are on the same line and share pixels of it", () => {
  const name = { x: 100, y: 50, wide: 60 };
  expect(overlap(name, { x: 150, y: 60, wide: 20 })).toBe(true);
  expect(overlap(name, { x: 160, y: 50, wide: 20 })).toBe(false);
  expect(overlap(name, { x: 100, y: 68, wide: 60 })).toBe(false);
});
