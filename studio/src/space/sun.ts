/** The direction of the sun, for day and night on the globe. */

import type { Vector3 } from "three";
import { onSphere } from "./look.ts";

/** Noon of 2000-01-01, the epoch J2000, and the length of a day, in milliseconds. */
const J2000 = Date.UTC(2000, 0, 1, 12);
const DAY = 86_400_000;
const RADIANS = Math.PI / 180;

/**
 * Returns the point of the Earth where the sun is in the zenith, in degrees, by the low-precision formulae of the
 * Astronomical Almanac: within 0.02 degrees from 1950 to 2050.
 */
export function subsolar(time_ms: number): { latitude: number; longitude: number } {
  const days = (time_ms - J2000) / DAY;
  const anomaly = (357.528 + 0.9856003 * days) * RADIANS;
  const longitude = (280.46 + 0.9856474 * days + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * RADIANS;
  const tilt = (23.439 - 4e-7 * days) * RADIANS;
  const ascension = Math.atan2(Math.cos(tilt) * Math.sin(longitude), Math.cos(longitude)) / RADIANS;
  const turned = 280.46061837 + 360.98564736629 * days;
  return {
    latitude: Math.asin(Math.sin(tilt) * Math.sin(longitude)) / RADIANS,
    longitude: between180(ascension - turned),
  };
}

/** Returns the direction to the sun in the frame of the scene; undefined if the time is not a number. */
export function sunAt(time_ms: number): Vector3 | undefined {
  if (!Number.isFinite(time_ms)) {
    return undefined;
  }
  const { latitude, longitude } = subsolar(time_ms);
  return onSphere(latitude, longitude);
}

function between180(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}
