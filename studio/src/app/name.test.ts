import { expect, test } from "vitest";
import { fitting } from "./fitting.ts";
import { split } from "./name.tsx";

test("names in a sentence are separate parts, longer names first", () => {
  const names = ["a-b", "a-b->c", "London", "New York->Singapore"];
  expect(split("a-b->c and a-b: slow", names)).toEqual(["", "a-b->c", " and ", "a-b", ": slow"]);
  expect(split("New York->Singapore lost 3", names)).toEqual(["", "New York->Singapore", " lost 3"]);
});

test("a name within a longer name, or one that cannot break, is not a separate part", () => {
  expect(split("ca-b and a packet of London", ["a-b", "a", "London"])).toEqual(["ca-b and a packet of London"]);
});

test("a name with regular-expression characters is matched literally", () => {
  expect(split("x.y (1) and xzy", ["x.y (1)"])).toEqual(["", "x.y (1)", " and xzy"]);
});

test("a name that is too long ends with …, and fits", () => {
  const widthOf = (text: string) => 7 * [...text].length;
  expect(fitting("London", 42, widthOf)).toBe("London");
  expect(fitting("London->Singapore", 70, widthOf)).toBe("London->S…");
  expect(fitting("🛰🛰🛰🛰", 21, widthOf)).toBe("🛰🛰…");
  expect(fitting("London", 1, widthOf)).toBe("L…");
});
