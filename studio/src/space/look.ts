/** Camera position with all given points of the Earth in view. */

import { Vector3 } from "three";

/** Grid step of positions in degrees, and the maximum latitude of the camera: above it north is no longer up. */
const STEP = 3;
const HIGHEST = 60;
/** Minimum degrees between a point and the visible edge of the Earth. */
const MARGIN = 5;
/** Maximum camera distance, in Earth radii: beyond it points are too small. */
const FARTHEST = 12;

/**
 * Returns the camera's position above the middle of points, in Earth radii; the y axis points to the north pole. It is
 * at least `nearest` from the centre, and farther if a point would be hidden by the edge. If points are all around the
 * Earth, most of them are in view.
 */
export function lookAt(points: Vector3[], nearest: number): Vector3 {
  const ends = points.map((point) => point.clone().normalize());
  let best = new Vector3(0, 0, 1);
  let least = Number.POSITIVE_INFINITY;
  for (let latitude = -HIGHEST; latitude <= HIGHEST; latitude += STEP) {
    for (let longitude = -180; longitude < 180; longitude += STEP) {
      const place = onSphere(latitude, longitude);
      const angle = Math.max(0, ...ends.map((end) => place.angleTo(end)));
      // Among equally good positions, the one nearest to the equator wins.
      const cost = angle + 1e-3 * Math.abs(latitude);
      if (cost < least) {
        [best, least] = [place, cost];
      }
    }
  }
  const angle = Math.max(0, ...ends.map((end) => best.angleTo(end))) + (MARGIN * Math.PI) / 180;
  const needed = angle < Math.PI / 2 ? 1 / Math.cos(angle) : FARTHEST;
  return best.multiplyScalar(Math.max(nearest, Math.min(FARTHEST, needed)));
}

/** Returns the point of the unit sphere at degrees of latitude and longitude, in the frame of the scene. */
export function onSphere(latitude: number, longitude: number): Vector3 {
  const [up, around] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  return new Vector3(Math.cos(up) * Math.cos(around), Math.sin(up), -Math.cos(up) * Math.sin(around));
}
