/**
 * An Earth in natural colours. Only its coasts are data, from Natural Earth; the colours follow a rough table of
 * climates: a colour for each latitude, and patches of deserts, forests and ice.
 */

/** A point of a coast, in degrees. */
type Outline = [longitude: number, latitude: number][];

/** Colours of land from the north pole to the south pole, by latitude. */
const LAND: [latitude: number, colour: string][] = [
  [90, "#f3f7f8"],
  [78, "#dfe3df"],
  [72, "#9d9a84"],
  [64, "#626c49"],
  [55, "#4b6239"],
  [45, "#647140"],
  [36, "#7b7d4e"],
  [26, "#857a4d"],
  [12, "#5d7138"],
  [0, "#35592c"],
  [-10, "#49692f"],
  [-20, "#7a7746"],
  [-32, "#747648"],
  [-46, "#566a3d"],
  [-60, "#e9eff2"],
  [-90, "#f8fbfc"],
];

/** Colours of the sea, by latitude. */
const SEA: [latitude: number, colour: string][] = [
  [90, "#5d7f96"],
  [70, "#1f4668"],
  [45, "#123a63"],
  [15, "#0d3a68"],
  [0, "#0f4070"],
  [-15, "#0d3a68"],
  [-45, "#113659"],
  [-65, "#2b4f6b"],
  [-90, "#5d7f96"],
];

type Patch = [longitude: number, latitude: number, width: number, height: number, colour: string];

/** Soft ellipses with another colour than their latitude: centre and half axes in degrees. */
const PATCHES: Patch[] = [
  // Dry land.
  [12, 23, 34, 11, "#d9bd88"],
  [-8, 22, 14, 9, "#d6b981"],
  [28, 23, 12, 10, "#dcc290"],
  [47, 23, 13, 11, "#d8ba86"],
  [56, 32, 11, 7, "#b89f72"],
  [69, 28, 7, 5, "#bfa577"],
  [62, 42, 13, 6, "#b7a479"],
  [83, 39, 11, 5, "#cbb488"],
  [104, 43, 15, 6, "#b9a37a"],
  [88, 33, 13, 5, "#a2977b"],
  [130, -25, 18, 10, "#b98a58"],
  [120, -24, 8, 7, "#b98a58"],
  [20, -24, 8, 8, "#b89b69"],
  [46, 6, 7, 7, "#b79c69"],
  [-69, -22, 4, 10, "#b3946a"],
  [-68, -44, 5, 9, "#a39169"],
  [-111, 33, 11, 9, "#b39a6c"],
  [-101, 42, 9, 9, "#8b8a57"],
  // Forests.
  [-62, -5, 17, 10, "#244d28"],
  [20, 0, 13, 7, "#2a5329"],
  [-6, 6, 12, 3, "#3b632f"],
  [103, 13, 9, 11, "#3c6632"],
  [113, 0, 17, 8, "#2a572b"],
  [141, -5, 10, 6, "#2a572b"],
  [80, 21, 8, 8, "#6b7644"],
  [111, 26, 11, 7, "#4a6839"],
  [137, 36, 7, 6, "#4b6b3b"],
  [-83, 36, 11, 8, "#4b693a"],
  [-86, 14, 8, 6, "#396330"],
  [10, 49, 18, 8, "#536d3c"],
  [40, 55, 25, 7, "#566a3d"],
  [100, 60, 50, 6, "#4c603c"],
  [-100, 57, 30, 6, "#4c603d"],
  [172, -41, 6, 6, "#4f6d3f"],
  // Snow and ice.
  [86, 29, 12, 1.6, "#e6eaea"],
  [-41, 73, 17, 13, "#f5f9fb"],
  [-80, 79, 18, 5, "#e9eeef"],
  [60, 79, 30, 4, "#e4e9ea"],
  [-19, 65, 4, 1.4, "#d9dfdf"],
];

/** Paints land and sea of the given outlines over a canvas of the given size. */
export function paintReal(pen: CanvasRenderingContext2D, width: number, height: number, outlines: Outline[]): void {
  const x = (longitude: number) => ((longitude + 180) / 360) * width;
  const y = (latitude: number) => ((90 - latitude) / 180) * height;
  const byLatitude = (colours: [number, string][]) => {
    const gradient = pen.createLinearGradient(0, 0, 0, height);
    for (const [latitude, colour] of colours) {
      gradient.addColorStop((90 - latitude) / 180, colour);
    }
    return gradient;
  };
  const coasts = new Path2D();
  for (const outline of outlines) {
    // What crosses the edge of the map is there again on its other side.
    for (const turn of [-360, 0, 360]) {
      outline.forEach(([longitude, latitude], at) => {
        coasts[at === 0 ? "moveTo" : "lineTo"](x(longitude + turn), y(latitude));
      });
      coasts.closePath();
    }
  }
  pen.fillStyle = byLatitude(SEA);
  pen.fillRect(0, 0, width, height);
  // Shallow water along the coasts.
  pen.lineJoin = "round";
  for (const [wide, colour] of [
    [0.012, "rgb(52 118 150 / 0.18)"],
    [0.007, "rgb(60 130 158 / 0.22)"],
    [0.003, "rgb(80 150 170 / 0.3)"],
  ] as const) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide * width;
    pen.stroke(coasts);
  }
  pen.save();
  pen.clip(coasts);
  pen.fillStyle = byLatitude(LAND);
  pen.fillRect(0, 0, width, height);
  for (const [longitude, latitude, wide, high, colour] of PATCHES) {
    patch(pen, x(longitude), y(latitude), (wide / 360) * width, (high / 180) * height, colour);
  }
  grain(pen, width, height);
  pen.restore();
}

/** Paints a soft ellipse. */
function patch(pen: CanvasRenderingContext2D, x: number, y: number, wide: number, high: number, colour: string): void {
  pen.save();
  pen.translate(x, y);
  pen.scale(wide, high);
  const gradient = pen.createRadialGradient(0, 0, 0, 0, 0, 1);
  gradient.addColorStop(0, colour);
  gradient.addColorStop(0.55, `${colour}d0`);
  gradient.addColorStop(1, `${colour}00`);
  pen.fillStyle = gradient;
  pen.fillRect(-1, -1, 2, 2);
  pen.restore();
}

const TILE = 256;

/** Varies the brightness of the land, so that large areas do not look painted. The pattern is always the same. */
function grain(pen: CanvasRenderingContext2D, width: number, height: number): void {
  const canvas = document.createElement("canvas");
  canvas.width = TILE;
  canvas.height = TILE;
  const own = canvas.getContext("2d");
  if (!own) {
    return;
  }
  let state = 1;
  for (let spot = 0; spot < 2600; spot++) {
    const next = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    const [left, top, size, shade] = [next() * TILE, next() * TILE, 2 + next() * 9, next()];
    own.fillStyle = shade < 0.5 ? "rgb(0 0 0 / 0.05)" : "rgb(255 255 255 / 0.05)";
    own.beginPath();
    own.ellipse(left, top, size, size * 0.6, next() * Math.PI, 0, 2 * Math.PI);
    own.fill();
  }
  const pattern = pen.createPattern(canvas, "repeat");
  if (pattern) {
    pen.fillStyle = pattern;
    pen.fillRect(0, 0, width, height);
  }
}
