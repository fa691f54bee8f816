import { expect, test } from "vitest";
import { marksOf } from "./axes.ts";

test("each axis is named at its end with its length and unit", () => {
  const marks = marksOf({ least: [0, -5, 0], most: [500, 20_500, 120] });
  expect(marks.map(({ says }) => says)).toEqual(["0 m east", "500 m east", "20.5 km north", "120 m up"]);
  expect(marks[2]?.at).toEqual([500, 20_500, 0]);
});
