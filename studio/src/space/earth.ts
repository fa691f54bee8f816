/** The Earth with its land: Natural Earth 1:110m, public domain. Its radius is 1. */

import { CanvasTexture, Mesh, MeshBasicMaterial, SphereGeometry, SRGBColorSpace } from "three";
import land from "../../../python/lightlag/constellation/land.json";
import { colour } from "../app/theme.ts";
import { isSlow } from "./stage.ts";

/** Mean radius of the Earth in metres. */
export const RADIUS = 6_371_000;

const WIDTH = 4096;
const HEIGHT = 2048;

/** Returns the globe. {@link paintEarth} paints its texture. */
export function earth(): Mesh<SphereGeometry, MeshBasicMaterial> {
  const material = new MeshBasicMaterial();
  paintEarth(material);
  return new Mesh(new SphereGeometry(1, 96, 64), material);
}

/** Paints land and sea in the page's colours. */
export function paintEarth(material: MeshBasicMaterial): void {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const pen = canvas.getContext("2d");
  if (!pen) {
    return;
  }
  pen.fillStyle = colour("sea");
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  graticule(pen);
  pen.fillStyle = colour("land");
  pen.strokeStyle = colour("coast");
  pen.lineWidth = 3;
  for (const ring of land.rings) {
    const outline = closed(ring);
    // What crosses the edge of the map is there again on its other side.
    for (const turn of [-360, 0, 360]) {
      pen.beginPath();
      for (const [longitude, latitude] of outline) {
        pen.lineTo(((longitude + turn + 180) / 360) * WIDTH, ((90 - latitude) / 180) * HEIGHT);
      }
      pen.closePath();
      pen.fill();
      pen.stroke();
    }
  }
  material.map?.dispose();
  material.map = new CanvasTexture(canvas);
  material.map.colorSpace = SRGBColorSpace;
  material.map.anisotropy = isSlow() ? 1 : 4;
  material.needsUpdate = true;
}

/**
 * Returns an outline whose longitudes continue beyond 180 degrees instead of jumping; one around a pole is closed
 * there.
 */
export function closed(ring: number[][]): [longitude: number, latitude: number][] {
  const outline: [number, number][] = [];
  let turn = 0;
  let before = ring[0]?.[0] ?? 0;
  for (const [longitude = 0, latitude = 0] of ring) {
    turn += longitude - before > 180 ? -360 : longitude - before < -180 ? 360 : 0;
    before = longitude;
    outline.push([longitude + turn, latitude]);
  }
  const [first, last] = [outline[0], outline.at(-1)];
  if (first && last && Math.abs(last[0] - first[0]) > 180) {
    const pole = first[1] < 0 ? -90 : 90;
    outline.push([last[0], pole], [first[0], pole]);
  }
  return outline;
}

function graticule(pen: CanvasRenderingContext2D): void {
  pen.strokeStyle = colour("graticule");
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (let x = 0; x <= WIDTH; x += WIDTH / 12) {
    pen.moveTo(x, 0);
    pen.lineTo(x, HEIGHT);
  }
  for (let y = HEIGHT / 6; y < HEIGHT; y += HEIGHT / 6) {
    pen.moveTo(0, y);
    pen.lineTo(WIDTH, y);
  }
  pen.stroke();
}

export interface Place {
  latitude: number;
  longitude: number;
  /** Height above the mean radius, in metres. */
  height: number;
}

/** Converts a point in the frame that rotates with the Earth to degrees and metres. */
export function placeOf(x: number, y: number, z: number): Place {
  const length = Math.hypot(x, y, z);
  return {
    latitude: (Math.asin(z / length) * 180) / Math.PI,
    longitude: (Math.atan2(y, x) * 180) / Math.PI,
    height: length - RADIUS,
  };
}

/** Describes a position as text. */
export function placeInWords({ latitude, longitude }: Place): string {
  const north = `${Math.abs(latitude).toFixed(1)}° ${latitude < 0 ? "S" : "N"}`;
  return `${north}, ${Math.abs(longitude).toFixed(1)}° ${longitude < 0 ? "W" : "E"}`;
}
