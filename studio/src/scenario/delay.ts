/** How long light is on its way, as near as a picture needs it. */

import { isTable } from "./path.ts";
import { amount, scaleOf } from "./units.ts";

/** A delay in seconds, also of light over a distance or an orbit. */
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

/** The time of light over a distance such as "384400 km". */
export function light(distance: string): number {
  const [, number, unit] = /^([\d.]+)\s*(km|m|au)$/.exec(distance) ?? [];
  const metres = { km: 1e3, m: 1, au: 1.495978707e11 }[unit ?? "m"] ?? 1;
  return (Number(number) * metres) / 299_792_458;
}

/** From here on, an end is on another world. */
export const FAR = 0.9;
const ORBIT = 0.1;

/** Whether a link goes over a satellite: it says so, or it is as long. */
export function isOverhead(delay: unknown): boolean {
  return (isTable(delay) && "orbit" in delay) || seconds(delay) >= ORBIT;
}
