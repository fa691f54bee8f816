import { expect, test } from "vitest";
import { lookAt, onSphere } from "./look.ts";

const [LONDON, NEW_YORK, SINGAPORE] = [onSphere(51.5, -0.1), onSphere(40.7, -74), onSphere(1.3, 103.8)];
const [OSLO, ANCHORAGE, MANILA] = [onSphere(59.9, 10.7), onSphere(61.2, -149.9), onSphere(14.6, 121)];

test.each([
  ["two cities far from each other", [LONDON, SINGAPORE]],
  ["three whose middle is near the pole", [LONDON, NEW_YORK, SINGAPORE]],
  ["two on both sides of the pole", [OSLO, ANCHORAGE]],
  ["two on both sides of the date line", [MANILA, ANCHORAGE]],
  ["one", [NEW_YORK]],
])("%s are in view, and north is up", (_, points) => {
  const eye = lookAt(points, 2.9);
  const distance = eye.length();
  // A point of the unit sphere is visible if it is above the plane through the edge, 1/d from the centre.
  for (const point of points) {
    expect(point.dot(eye) / distance).toBeGreaterThan(1 / distance);
  }
  expect(distance).toBeGreaterThan(2.899);
  expect(distance).toBeLessThan(12.001);
  expect(Math.abs(Math.asin(eye.y / distance)) * (180 / Math.PI)).toBeLessThan(61);
});

test("the camera is above the middle, at the minimum distance", () => {
  const eye = lookAt([onSphere(0, 20), onSphere(0, 60)], 2.9);
  expect(eye.clone().normalize().angleTo(onSphere(0, 40)) * (180 / Math.PI)).toBeLessThan(3);
  expect(eye.length()).toBeCloseTo(2.9);
});

test("points all around the Earth also have a camera position", () => {
  expect(lookAt([onSphere(0, 0), onSphere(0, 180)], 2.9).length()).toBeCloseTo(12);
  expect(lookAt([], 2.9).length()).toBeGreaterThan(2.899);
});
