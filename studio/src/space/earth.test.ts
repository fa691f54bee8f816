import { expect, test } from "vitest";
import land from "../../../python/lightlag/constellation/land.json";
import { closed, placeInWords, placeOf } from "./earth.ts";

test("an outline continues over the edge of the map, and one around a pole is closed there", () => {
  expect(
    closed([
      [170, 60],
      [179, 61],
      [-178, 62],
      [170, 60],
    ]),
  ).toEqual([
    [170, 60],
    [179, 61],
    [182, 62],
    [170, 60],
  ]);
  const around = closed([
    [-170, -70],
    [-60, -71],
    [60, -72],
    [170, -73],
    [-171, -74],
  ]);
  expect(around.slice(-2)).toEqual([
    [189, -90],
    [-170, -90],
  ]);
});

test("no outline of the land jumps", () => {
  for (const ring of land.rings) {
    const outline = closed(ring).filter(([, latitude]) => Math.abs(latitude) < 89);
    const jumps = outline.slice(1).map(([longitude], index) => Math.abs(longitude - (outline[index]?.[0] ?? 0)));
    expect(Math.max(...jumps)).toBeLessThan(180);
  }
});

test("places in degrees and words", () => {
  expect(placeOf(0, 6_471_000, 0)).toEqual({ latitude: 0, longitude: 90, height: 100_000 });
  expect(placeInWords({ latitude: -33.92, longitude: 18.42, height: 0 })).toBe("33.9° S, 18.4° E");
});
