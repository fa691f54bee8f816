/** The Earth with its land: Natural Earth 1:110m, public domain. Its radius is 1. */

import { CanvasTexture, Color, Mesh, ShaderMaterial, SphereGeometry, SRGBColorSpace, Vector3 } from "three";
import land from "../../../python/lightlag/constellation/land.json";
import { colour, isDark } from "../app/theme.ts";
import { paintReal } from "./real.ts";
import { isSlow } from "./stage.ts";

/** Mean radius of the Earth in metres. */
export const RADIUS = 6_371_000;

/** Pixels of the map from pole to pole; its width is twice that. The CPU draws fewer. */
const HEIGHT = { card: 2048, processor: 1024 };

const VERTEX = `
varying vec2 at;
varying vec3 up;
varying float facing;
void main() {
  at = uv;
  up = normalize(position);
  vec4 seen = modelViewMatrix * vec4(position, 1.0);
  facing = dot(normalize(normalMatrix * normal), normalize(-seen.xyz));
  gl_Position = projectionMatrix * seen;
}`;

/** Colours of the map, darker where the sun is below the horizon; twilight ends at 9 degrees below it. */
const FRAGMENT = `
uniform sampler2D map;
uniform vec3 sun;
uniform vec3 night;
uniform vec3 air;
varying vec2 at;
varying vec3 up;
varying float facing;
void main() {
  float day = dot(sun, sun) == 0.0 ? 1.0 : smoothstep(-0.16, 0.1, dot(up, sun));
  vec3 ground = texture2D(map, at).rgb * mix(night, vec3(1.0), day);
  float edge = pow(1.0 - clamp(facing, 0.0, 1.0), 3.0);
  gl_FragColor = vec4(ground + air * edge * (0.25 + 0.75 * day), 1.0);
  #include <colorspace_fragment>
}`;

type Looks = {
  map: { value: CanvasTexture | null };
  /** Direction to the sun; zero without one. */
  sun: { value: Vector3 };
  /** Factor of the colours at night. */
  night: { value: Color };
  /** Colour of the air at the edge of the globe. */
  air: { value: Color };
};

export type Earth = Mesh<SphereGeometry, ShaderMaterial & { uniforms: Looks }>;

/** Returns the globe. {@link paintEarth} paints its texture. */
export function earth(): Earth {
  const uniforms: Looks = {
    map: { value: null },
    sun: { value: new Vector3() },
    night: { value: new Color() },
    air: { value: new Color(0) },
  };
  const material = new ShaderMaterial({ uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT });
  return new Mesh(new SphereGeometry(1, 96, 64), Object.assign(material, { uniforms }));
}

/** Lights the globe from a direction, or evenly without one. */
export function lightEarth({ material: { uniforms } }: Earth, sun: Vector3 | undefined): void {
  uniforms.sun.value.copy(sun ?? new Vector3());
}

/** Paints land and sea, in the colours of the page or in natural ones. */
export function paintEarth({ material: { uniforms } }: Earth, isReal: boolean): void {
  const canvas = document.createElement("canvas");
  canvas.height = isSlow() ? HEIGHT.processor : HEIGHT.card;
  canvas.width = 2 * canvas.height;
  const pen = canvas.getContext("2d");
  if (!pen) {
    return;
  }
  const outlines = land.rings.map(closed);
  if (isReal) {
    paintReal(pen, canvas.width, canvas.height, outlines);
  } else {
    paintPlain(pen, canvas.width, canvas.height, outlines);
  }
  uniforms.night.value.set(isReal ? "#566080" : isDark() ? "#aeb5c2" : "#a3abc0");
  uniforms.air.value.set(isReal ? "#4f8fd6" : "#000000");
  uniforms.map.value?.dispose();
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = isSlow() ? 1 : 4;
  uniforms.map.value = texture;
}

function paintPlain(
  pen: CanvasRenderingContext2D,
  width: number,
  height: number,
  outlines: ReturnType<typeof closed>[],
): void {
  pen.fillStyle = colour("sea");
  pen.fillRect(0, 0, width, height);
  graticule(pen, width, height);
  pen.fillStyle = colour("land");
  pen.strokeStyle = colour("coast");
  pen.lineWidth = (3 * height) / HEIGHT.card;
  for (const outline of outlines) {
    // What crosses the edge of the map is there again on its other side.
    for (const turn of [-360, 0, 360]) {
      pen.beginPath();
      for (const [longitude, latitude] of outline) {
        pen.lineTo(((longitude + turn + 180) / 360) * width, ((90 - latitude) / 180) * height);
      }
      pen.closePath();
      pen.fill();
      pen.stroke();
    }
  }
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

function graticule(pen: CanvasRenderingContext2D, width: number, height: number): void {
  pen.strokeStyle = colour("graticule");
  pen.lineWidth = (1.5 * height) / HEIGHT.card;
  pen.beginPath();
  for (let x = 0; x <= width; x += width / 12) {
    pen.moveTo(x, 0);
    pen.lineTo(x, height);
  }
  for (let y = height / 6; y < height; y += height / 6) {
    pen.moveTo(0, y);
    pen.lineTo(width, y);
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
