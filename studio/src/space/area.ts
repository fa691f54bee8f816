/** The box of flying nodes: from the scenario, or large enough for their initial positions. */

import type { Scenario } from "../engine/protocol.ts";
import type { Extent } from "./cloud.ts";

/** Returns the metres of a text such as "400 m", or undefined. */
function metres(text: unknown): number | undefined {
  const [, number, unit] = /^([\d.eE+-]+)\s*(k?m)$/.exec(String(text)) ?? [];
  return number === undefined ? undefined : Number(number) * (unit === "km" ? 1000 : 1);
}

/** Returns the extent of positions, x, y and z one after another, and of the scenario's area. */
export function extentOf(scenario: Scenario | undefined, places: Float32Array): Extent {
  const area = (scenario?.topology as { area?: unknown[] } | undefined)?.area?.map(metres) ?? [];
  const axis = (at: number): [number, number] => {
    const along = places.filter((_, index) => index % 3 === at);
    const [least, most] = [Math.min(...along), Math.max(...along)];
    const given = area[at];
    if (given !== undefined) {
      return [Math.min(0, least), Math.max(given, most)];
    }
    const around = Math.max(10, (most - least) * 0.15);
    return at === 2 ? [Math.min(0, least), most + 10] : [least - around, most + around];
  };
  const [x, y, z] = [axis(0), axis(1), axis(2)];
  return { least: [x[0], y[0], z[0]], most: [x[1], y[1], z[1]] };
}
