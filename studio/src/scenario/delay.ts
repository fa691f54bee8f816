/** Propagation time of light on a link, as precisely as a drawing needs it. */

import { isTable } from "./path.ts";
import { amount, scaleOf } from "./units.ts";

/** Returns a delay in seconds. A distance or an orbit is converted to its propagation time. */
export function seconds(delay: unknown): number {
  const scale = scaleOf("Duration", delay);
  if (typeof delay === "string" && scale) {
    return amount(scale, delay) ?? 0;
  }
  if (!isTable(delay)) {
    return 0;
  }
  if ("forward" in delay) {
    return seconds(delay.forward);
  }
  const orbits: Record<string, number> = { geo: 0.25, meo: 0.07, "leo-550": 0.008 };
  return typeof delay.distance === "string" ? light(delay.distance) : (orbits[String(delay.orbit)] ?? 0.02);
}

/** Returns the propagation time of a distance such as "384400 km". */
export function light(distance: string): number {
  const [, number, unit] = /^([\d.]+)\s*(km|m|au)$/.exec(distance) ?? [];
  const metres = { km: 1e3, m: 1, au: 1.495978707e11 }[unit ?? "m"] ?? 1;
  return (Number(number) * metres) / 299_792_458;
}

/** Minimum delay in seconds of a link that is drawn as one to the Moon or another planet. */
export const FAR = 0.9;
const ORBIT = 0.1;

/** Returns true if a link is drawn over a satellite: its delay names an orbit, or is as long. */
export function isOverhead(delay: unknown): boolean {
  return (isTable(delay) && "orbit" in delay) || seconds(delay) >= ORBIT;
}
