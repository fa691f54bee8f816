/** The paths of flows as lines of a scene, each in the colour of its flow. */

import { Color, DynamicDrawUsage, type InterleavedBufferAttribute } from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { colour } from "../app/theme.ts";

export class Paths {
  readonly lines: LineSegments2[];

  constructor(flows: number, linewidth: number) {
    this.lines = Array.from({ length: flows }, () => {
      const line = new LineSegments2(new LineSegmentsGeometry(), new LineMaterial({ linewidth }));
      line.visible = false;
      line.frustumCulled = false;
      return line;
    });
  }

  /** Shows the path of each flow, as indices of positions; `places` holds x, y and z of each. */
  show(paths: (number[] | undefined)[], places: Float32Array): void {
    this.lines.forEach((line, flow) => {
      const path = paths[flow] ?? [];
      line.visible = path.length > 1;
      if (line.visible) {
        this.put(line, path, places);
      }
    });
  }

  /** Writes the ends of the hops into the buffer of a line, or into a longer one. */
  private put({ geometry }: LineSegments2, path: number[], places: Float32Array): void {
    const hops = path.length - 1;
    let start = geometry.getAttribute("instanceStart") as InterleavedBufferAttribute | undefined;
    if (!start || start.count < hops) {
      geometry.dispose();
      geometry.setPositions(new Float32Array(6 * 2 ** Math.ceil(Math.log2(hops))));
      start = geometry.getAttribute("instanceStart") as InterleavedBufferAttribute;
      start.data.setUsage(DynamicDrawUsage);
    }
    const ends = start.data.array;
    for (let hop = 0; hop < hops; hop++) {
      for (let axis = 0; axis < 3; axis++) {
        ends[6 * hop + axis] = places[3 * (path[hop] ?? 0) + axis] ?? 0;
        ends[6 * hop + 3 + axis] = places[3 * (path[hop + 1] ?? 0) + axis] ?? 0;
      }
    }
    start.data.needsUpdate = true;
    geometry.instanceCount = hops;
  }

  restyle(): void {
    this.lines.forEach((line, flow) => {
      line.material.color = new Color(colour(`s${(flow % 8) + 1}`));
    });
  }
}
