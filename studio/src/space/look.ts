/** The place from which all given points of the Earth are in view. */

import { Vector3 } from "three";

/** Degrees of a grid of places, and the latitude up to which the eye may be: above it north is no longer up. */
const STEP = 3;
const HIGHEST = 60;
/** Degrees between a point and the edge of the Earth as it is seen. */
const MARGIN = 5;
/** The farthest that a look is taken from, in Earth radii: beyond it points are too small. */
const FARTHEST = 12;

/**
 * The eye's position above the middle of points, in Earth radii; the y axis is that of the poles. It is at least `nearest` from
 * the centre, and farther where a point would be behind the edge. Of points all around the Earth most are in view.
 */
export function lookAt(points: Vector3[], nearest: number): Vector3 {
  const ends = points.map((point) => point.clone().normalize());
  let best = new Vector3(0, 0, 1);
  let least = Number.POSITIVE_INFINITY;
  for (let latitude = -HIGHEST; latitude <= HIGHEST; latitude += STEP) {
    for (let longitude = -180; longitude < 180; longitude += STEP) {
      const place = onSphere(latitude, longitude);
      const angle = Math.max(0, ...ends.map((end) => place.angleTo(end)));
      // Of places that are as good, that nearest to the equator.
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

/** The point of the unit sphere at degrees of latitude and longitude, in the frame of the scene. */
export function onSphere(latitude: number, longitude: number): Vector3 {
  const [up, around] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  return new Vector3(Math.cos(up) * Math.cos(around), Math.sin(up), -Math.cos(up) * Math.sin(around));
}
