import { expect, test } from "vitest";
import { rolesOf } from "./cloud.ts";

test("nodes have the roles of the paths that they are on, sources before destinations before relays", () => {
  expect(rolesOf(5, [[0, 1, 2], undefined, [3]])).toEqual(["source", "relay", "destination", "other", "other"]);
  expect(
    rolesOf(3, [
      [0, 1, 2],
      [2, 1],
    ]),
  ).toEqual(["source", "destination", "source"]);
  expect(rolesOf(2, [[0, -1, 1]])).toEqual(["source", "destination"]);
});
