import { expect, test } from "vitest";
import { extentOf } from "./area.ts";

test("the area is the scenario's, and holds all nodes", () => {
  const places = Float32Array.of(300, 20, 5, 420, 30, 8);
  const scenario = { topology: { area: ["400 m", "0.4 km", "100 m"] } };
  expect(extentOf(scenario, places)).toEqual({ least: [0, 0, 0], most: [420, 400, 100] });
  const { least, most } = extentOf({}, places);
  expect([least[0], most[0], least[2], most[2]]).toEqual([282, 438, 0, 18]);
});
