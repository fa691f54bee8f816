/** Satellites, their links, stations and the paths of flows as objects of a scene. */

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
  type Vector3,
} from "three";
import { colour } from "../app/theme.ts";
import { earth, lightEarth, paintEarth, RADIUS } from "./earth.ts";
import { Paths } from "./paths.ts";

/** Colours around an Earth in natural colours, in any theme. */
const REAL: Record<string, string> = { heaven: "#04070c", star: "#9fc3e6", isl: "#5f93c4" };

/** Scale of the drawn Earth: slightly smaller than its mean radius, so that stations in the north are above it. */
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
  private readonly paths: Paths;
  private isls: Uint32Array | undefined;
  private shown: number[][] = [];
  private isReal = false;

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
    this.paths = new Paths(flows, 3.5);
    turned.add(this.links, this.satellites, this.carriers, this.stations, ...this.paths.lines);
    this.group.add(this.earth, turned);
    this.restyle();
  }

  /** Updates the scene after `places` has changed; `isls` are the links that are up. */
  moved(isls: Uint32Array): void {
    this.attribute.needsUpdate = true;
    if (isls !== this.isls) {
      this.isls = isls;
      this.links.geometry.setIndex(new BufferAttribute(isls, 1));
    }
  }

  /** Shows the path of each flow, as indices of positions. */
  ways(ways: number[][]): void {
    // Paths change a few times per minute, and positions with each frame.
    if (ways.length !== this.shown.length || ways.some((way, flow) => way !== this.shown[flow])) {
      this.shown = ways;
      const carriers = new Set(ways.flat().filter((node) => node < this.satelliteCount));
      this.carriers.geometry.setIndex([...carriers]);
    }
    this.paths.show(ways, this.places);
  }

  /** Lights the Earth from the sun; without a direction, it is day everywhere. */
  light(sun: Vector3 | undefined): void {
    lightEarth(this.earth, sun);
  }

  /** Selects natural colours, or the colours of the page. */
  showReal(isReal: boolean): void {
    if (isReal !== this.isReal) {
      this.isReal = isReal;
      this.restyle();
    }
  }

  /** Background colour. */
  get ground(): string {
    return this.colour("heaven");
  }

  showLinks(isOn: boolean): void {
    this.links.visible = isOn;
  }

  restyle(): void {
    paintEarth(this.earth, this.isReal);
    this.links.material.color = new Color(this.colour("isl"));
    this.satellites.material.color = new Color(this.colour("star"));
    this.carriers.material.color = new Color(colour("s5"));
    this.stations.material.color = new Color(colour("s2"));
    this.paths.restyle();
  }

  private colour(name: string): string {
    return (this.isReal ? REAL[name] : undefined) ?? colour(name);
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

/** Returns the texture of a round dot. */
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
