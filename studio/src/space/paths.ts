/** The paths of flows as lines of a scene, each in the colour of its flow. */

import { Color } from "three";
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
      if (!line.visible) {
        return;
      }
      const ends: number[] = [];
      for (let hop = 1; hop < path.length; hop++) {
        for (const node of [path[hop - 1] ?? 0, path[hop] ?? 0]) {
          ends.push(...places.subarray(node * 3, node * 3 + 3));
        }
      }
      line.geometry.dispose();
      line.geometry = new LineSegmentsGeometry().setPositions(ends);
    });
  }

  restyle(): void {
    this.lines.forEach((line, flow) => {
      line.material.color = new Color(colour(`s${(flow % 8) + 1}`));
    });
  }
}
