/** Satellites, their links, stations and the ways of flows as things of a scene. */

import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DynamicDrawUsage,
  Group,
  LineBasicMaterial,
  LineSegments,
  Points,
  PointsMaterial,
} from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { colour } from "../app/theme.ts";
import { earth, paintEarth, RADIUS } from "./earth.ts";

/** The Earth is drawn a little smaller than its mean radius, so that stations in the north stand on it. */
const SUNK = 0.995;

export class Heaven {
  readonly group = new Group();
  /** x, y, z of satellites, then of stations, in metres. */
  readonly places: Float32Array;
  private readonly attribute: BufferAttribute;
  private readonly earth = earth();
  private readonly links: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly satellites: Points<BufferGeometry, PointsMaterial>;
  private readonly carriers: Points<BufferGeometry, PointsMaterial>;
  private readonly stations: Points<BufferGeometry, PointsMaterial>;
  private readonly lines: LineSegments2[];
  private isls: Uint32Array | undefined;

  constructor(
    readonly satelliteCount: number,
    stationCount: number,
    flows: number,
  ) {
    this.places = new Float32Array(3 * (satelliteCount + stationCount));
    this.attribute = new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage);
    const turned = new Group();
    turned.rotation.x = -Math.PI / 2;
    turned.scale.setScalar(1 / RADIUS);
    this.earth.scale.setScalar(SUNK);
    this.links = new LineSegments(this.geometry(), new LineBasicMaterial({ transparent: true, opacity: 0.35 }));
    this.links.frustumCulled = false;
    const few = satelliteCount < 300;
    this.satellites = this.points(few ? 7 : satelliteCount < 1000 ? 5 : 3.4, range(0, satelliteCount));
    this.carriers = this.points(few ? 12 : 10, []);
    this.stations = this.points(12, range(satelliteCount, stationCount));
    this.lines = Array.from({ length: flows }, () => {
      const line = new LineSegments2(new LineSegmentsGeometry(), new LineMaterial({ linewidth: 3.5 }));
      line.visible = false;
      line.frustumCulled = false;
      return line;
    });
    turned.add(this.links, this.satellites, this.carriers, this.stations, ...this.lines);
    this.group.add(this.earth, turned);
    this.restyle();
  }

  /** Takes the places as they were written, and links that are up. */
  moved(isls: Uint32Array): void {
    this.attribute.needsUpdate = true;
    if (isls !== this.isls) {
      this.isls = isls;
      this.links.geometry.setIndex(new BufferAttribute(isls, 1));
    }
  }

  /** Shows the way of each flow: numbers of places. */
  ways(ways: number[][]): void {
    const { places } = this;
    const carriers = new Set(ways.flat().filter((node) => node < this.satelliteCount));
    this.carriers.geometry.setIndex([...carriers]);
    this.lines.forEach((line, flow) => {
      const way = ways[flow] ?? [];
      line.visible = way.length > 1;
      if (!line.visible) {
        return;
      }
      const ends: number[] = [];
      for (let hop = 1; hop < way.length; hop++) {
        for (const node of [way[hop - 1] ?? 0, way[hop] ?? 0]) {
          ends.push(places[node * 3] ?? 0, places[node * 3 + 1] ?? 0, places[node * 3 + 2] ?? 0);
        }
      }
      line.geometry.dispose();
      line.geometry = new LineSegmentsGeometry().setPositions(ends);
    });
  }

  showLinks(isOn: boolean): void {
    this.links.visible = isOn;
  }

  restyle(): void {
    paintEarth(this.earth.material);
    this.links.material.color = new Color(colour("isl"));
    this.satellites.material.color = new Color(colour("star"));
    this.carriers.material.color = new Color(colour("s5"));
    this.stations.material.color = new Color(colour("s2"));
    this.lines.forEach((line, flow) => {
      line.material.color = new Color(colour(`s${(flow % 8) + 1}`));
    });
  }

  private geometry(): BufferGeometry {
    return new BufferGeometry().setAttribute("position", this.attribute);
  }

  private points(size: number, index: number[]): Points<BufferGeometry, PointsMaterial> {
    const material = new PointsMaterial({ size, sizeAttenuation: false, map: dot(), alphaTest: 0.4 });
    const points = new Points(this.geometry().setIndex(index), material);
    points.frustumCulled = false;
    return points;
  }
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** A round dot. */
export function dot(): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = 32;
  canvas.height = 32;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.fillStyle = "white";
    pen.arc(16, 16, 15, 0, 2 * Math.PI);
    pen.fill();
  }
  return new CanvasTexture(canvas);
}
