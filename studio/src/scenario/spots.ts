/** Positions of nodes with coordinates: radios as seen from above, satellites and stations on a map. */

import type { Spot } from "../app/layout.ts";
import { door, scenarioInput } from "../app/state.ts";
import type { Network, Table } from "../engine/protocol.ts";

/** Width of the map of the Earth. */
export const MAP = 900;

/** Returns the positions at the start of the run, by the name of the node. */
export async function spotsOf(network: Network): Promise<Map<string, Spot>> {
  const spots = new Map<string, Spot>();
  if (network.sky) {
    await withPlaces(
      "sky",
      spots,
      ({ x, y, z }) => ({
        x: (Math.atan2(y, x) * 180) / Math.PI,
        y: (-Math.asin(z / Math.hypot(x, y, z)) * 180) / Math.PI,
      }),
      MAP / 360,
    );
  }
  if (network.media.length > 0) {
    await withPlaces("flight", spots, ({ x, y }) => ({ x, y: -y }), undefined);
  }
  return spots;
}

type Place = { x: number; y: number; z: number };

async function withPlaces(
  op: "sky" | "flight",
  spots: Map<string, Spot>,
  flat: (place: Place) => Spot,
  scale: number | undefined,
): Promise<void> {
  const opened = await door().ask({ op, ...scenarioInput() });
  if (opened.errors) {
    return;
  }
  try {
    const { tables } = await door().ask({ op: "places_at", place: opened.place, time_s: 0 });
    const names = "satellites" in opened ? [...opened.satellites, ...opened.stations] : opened.nodes;
    const flats = rows(tables.places).map(flat);
    const wide = Math.max(1, ...flats.map(({ x }) => x)) - Math.min(0, ...flats.map(({ x }) => x));
    const factor = scale ?? 700 / wide;
    names.forEach((name, index) => {
      const spot = flats[index];
      if (spot) {
        spots.set(name, { x: spot.x * factor, y: spot.y * factor });
      }
    });
  } finally {
    await door().ask({ op: "leave", place: opened.place });
  }
}

function rows(table: Table | undefined): Place[] {
  const { x, y, z } = table?.columns ?? {};
  return Array.from({ length: table?.rows ?? 0 }, (_, row) => ({
    x: x?.values[row] ?? 0,
    y: y?.values[row] ?? 0,
    z: z?.values[row] ?? 0,
  }));
}
