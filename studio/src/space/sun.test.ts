import { expect, test } from "vitest";
import { subsolar, sunAt } from "./sun.ts";

// Equinox and solstices of 2026, and the equation of time, from the Astronomical Almanac.
test.each([
  ["the March equinox", "2026-03-20T14:46:00Z", 0, -39.6],
  ["the June solstice", "2026-06-21T08:25:00Z", 23.44, 54.2],
  ["the December solstice", "2026-12-21T20:50:00Z", -23.44, -133],
  ["new year at midnight", "2026-01-01T00:00:00Z", -23.0, -179.2],
])("the sun is in the zenith of the right place at %s", (_, time, latitude, longitude) => {
  const found = subsolar(Date.parse(time));
  expect(found.latitude).toBeCloseTo(latitude, 1);
  expect(Math.abs(found.longitude - longitude)).toBeLessThan(0.3);
});

test("the direction is a unit vector whose y axis points north", () => {
  const sun = sunAt(Date.parse("2026-06-21T08:25:00Z"));
  expect(sun?.length()).toBeCloseTo(1);
  expect(sun?.y).toBeCloseTo(Math.sin((23.44 * Math.PI) / 180), 2);
});

test("a scenario without a date has no sun", () => {
  expect(sunAt(Number.NaN)).toBeUndefined();
});
