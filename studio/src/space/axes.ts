/** Labels with the lengths of the edges of an area, and their positions. */

import type { Extent } from "./cloud.ts";

export interface Mark {
  says: string;
  at: [x: number, y: number, z: number];
}

/**
 * Returns the ends of the axes with their units: east and north along the nearest ground edges, up along one at
 * the side.
 */
export function marksOf({ least: [west, south, ground], most: [east, north, top] }: Extent): Mark[] {
  const along = (at: number, direction: string) => `${length(at)} ${direction}`;
  return [
    { says: along(west, "east"), at: [west, south, ground] },
    { says: along(east, "east"), at: [east, south, ground] },
    { says: along(north, "north"), at: [east, north, ground] },
    { says: along(top, "up"), at: [west, south, top] },
  ];
}

/** Formats metres, in kilometres if there are many. */
function length(metres: number): string {
  return Math.abs(metres) >= 10_000 ? `${Number((metres / 1000).toFixed(1))} km` : `${Math.round(metres)} m`;
}
