/** Nodes with radios as objects of a scene: positions and tracks, links, the box of their area, paths of flows. */

import {
  Box3,
  Box3Helper,
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  GridHelper,
  Group,
  LineBasicMaterial,
  LineSegments,
  Points,
  PointsMaterial,
  Vector3,
} from "three";
import { colour } from "../app/theme.ts";
import type { Flight } from "../engine/protocol.ts";
import { dot } from "./heaven.ts";
import { Paths } from "./paths.ts";

/** Seconds of flight that a track shows, and its number of segments. */
const TRACK_S = 20;
const PIECES = 40;

/** Number of squares of the ground along a side of the area. */
const SQUARES = 10;

export type Extent = NonNullable<Flight["extent"]>;

/** Roles of nodes by the paths of flows, with the name of their colour. A node with several has the first of them. */
export const ROLES = ["source", "destination", "relay", "other"] as const;
export type Role = (typeof ROLES)[number];
const COLOURS: Record<Role, string> = { source: "s5", destination: "s8", relay: "s3", other: "quiet" };

/** Returns the role of each node from the paths of flows, as indices of nodes. */
export function rolesOf(count: number, ways: (number[] | undefined)[]): Role[] {
  const roles: Role[] = Array.from({ length: count }, () => "other");
  const found = ways.filter((way) => way !== undefined && way.length > 1) as number[][];
  const give = (role: Role, of: (way: number[]) => (number | undefined)[]) => {
    for (const node of found.flatMap(of)) {
      if (node !== undefined && node >= 0) {
        roles[node] = role;
      }
    }
  };
  give("relay", (way) => way.slice(1, -1));
  give("destination", (way) => [way.at(-1)]);
  give("source", (way) => [way[0]]);
  return roles;
}

export class Cloud {
  readonly group = new Group();
  /** Coordinates of each node in metres: x (east), y (north), z (up). */
  readonly places: Float32Array;
  private readonly inside = new Group();
  private readonly attribute: BufferAttribute;
  private readonly nodes: Points<BufferGeometry, PointsMaterial>;
  private readonly stems: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly tracks: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly heard: LineSegments<BufferGeometry, LineBasicMaterial>;
  private pairs: Uint32Array = new Uint32Array();
  private readonly box: Box3Helper;
  private grid: GridHelper;
  private readonly paths: Paths;
  private roles: Role[];
  private past: { time_s: number; places: Float32Array }[] = [];
  /** Metres per unit of length of the scene. */
  readonly scale: number;
  readonly middle: Vector3;

  constructor(
    count: number,
    private readonly extent: Extent,
    flows: number,
  ) {
    const { least, most } = extent;
    this.scale = Math.max(1, ...[0, 1, 2].map((axis) => (most[axis] ?? 0) - (least[axis] ?? 0)));
    this.middle = new Vector3((least[0] + most[0]) / 2, (least[1] + most[1]) / 2, least[2]);
    this.places = new Float32Array(3 * count);
    this.attribute = new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage);
    const geometry = () => new BufferGeometry().setAttribute("position", this.attribute);
    const look = { size: count < 200 ? 11 : 6, sizeAttenuation: false, map: dot(), alphaTest: 0.4 };
    this.nodes = new Points(geometry(), new PointsMaterial({ ...look, vertexColors: true }));
    this.roles = Array.from({ length: count }, () => "other");
    this.nodes.geometry.setAttribute("color", new BufferAttribute(new Float32Array(3 * count), 3));
    this.stems = new LineSegments(lengthOf(count * 2), new LineBasicMaterial({ transparent: true, opacity: 0.35 }));
    this.tracks = new LineSegments(
      lengthOf(count * PIECES * 2),
      new LineBasicMaterial({ transparent: true, opacity: 0.5 }),
    );
    this.heard = new LineSegments(
      lengthOf(0),
      new LineBasicMaterial({ transparent: true, vertexColors: true, depthWrite: false }),
    );
    this.box = new Box3Helper(new Box3(new Vector3(...least), new Vector3(...most)));
    this.grid = this.ground();
    this.paths = new Paths(flows, 3);
    for (const part of [this.nodes, this.stems, this.tracks, this.heard]) {
      part.frustumCulled = false;
    }
    this.inside.add(this.heard, this.nodes, this.stems, this.tracks, this.box, ...this.paths.lines);
    this.group.add(this.inside, this.grid);
    this.inside.rotation.x = -Math.PI / 2;
    this.inside.scale.setScalar(1 / this.scale);
    this.inside.position.set(-this.middle.x / this.scale, -this.middle.z / this.scale, this.middle.y / this.scale);
    this.restyle();
  }

  /** Updates the scene after `places` has changed to the positions at a time. */
  moved(time_s: number): void {
    this.attribute.needsUpdate = true;
    const stems = this.stems.geometry.getAttribute("position") as BufferAttribute;
    for (let node = 0; node < this.places.length / 3; node++) {
      const [x = 0, y = 0, z = 0] = this.places.subarray(node * 3, node * 3 + 3);
      stems.setXYZ(node * 2, x, y, z);
      stems.setXYZ(node * 2 + 1, x, y, this.extent.least[2]);
    }
    stems.needsUpdate = true;
    this.stems.geometry.setDrawRange(0, stems.count);
    const newest = this.past.at(-1);
    if (newest && time_s < newest.time_s) {
      this.past = [];
    }
    if (!newest || time_s - newest.time_s >= TRACK_S / PIECES || time_s < newest.time_s) {
      this.past.push({ time_s, places: this.places.slice() });
      while (this.past.length > PIECES || (this.past[0]?.time_s ?? 0) < time_s - TRACK_S) {
        this.past.shift();
      }
      this.track();
    }
  }

  /** Shows links between pairs of nodes; a weaker signal gives a fainter line. */
  links(pairs: Uint32Array, strengths: Float64Array): void {
    const { geometry } = this.heard;
    if (pairs !== this.pairs) {
      this.pairs = pairs;
      const vertices = Float32Array.from({ length: 4 * pairs.length }, (_, at) =>
        at % 4 === 3 ? (strengths[at >> 3] ?? 1) : 1,
      );
      geometry.dispose();
      geometry.setAttribute("color", new BufferAttribute(vertices, 4));
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * pairs.length), 3));
      geometry.setDrawRange(0, pairs.length);
    }
    const ends = geometry.getAttribute("position") as BufferAttribute;
    pairs.forEach((node, at) => {
      ends.setXYZ(at, this.places[3 * node] ?? 0, this.places[3 * node + 1] ?? 0, this.places[3 * node + 2] ?? 0);
    });
    ends.needsUpdate = true;
  }

  showLinks(isOn: boolean): void {
    this.heard.visible = isOn;
  }

  /** Shows the paths of flows, as indices of nodes, and the roles of the nodes on them. Returns these roles. */
  ways(ways: (number[] | undefined)[]): readonly Role[] {
    this.paths.show(ways, this.places);
    const roles = rolesOf(this.places.length / 3, ways);
    if (roles.some((role, node) => role !== this.roles[node])) {
      this.roles = roles;
      this.paint();
    }
    return this.roles;
  }

  /** Side lengths of a square of the ground in metres: along x and y. */
  get square(): [x: number, y: number] {
    const { least, most } = this.extent;
    return [(most[0] - least[0]) / SQUARES, (most[1] - least[1]) / SQUARES];
  }

  showTracks(isOn: boolean): void {
    this.tracks.visible = isOn;
  }

  /** Returns the scene coordinates of a point of the area, given in metres. */
  point(x: number, y: number, z: number): Vector3 {
    const { middle, scale } = this;
    return new Vector3((x - middle.x) / scale, (z - middle.z) / scale, -(y - middle.y) / scale);
  }

  restyle(): void {
    this.paint();
    this.stems.material.color = new Color(colour("line-strong"));
    this.tracks.material.color = new Color(colour("s6"));
    this.heard.material.color = new Color(colour("quiet"));
    (this.box.material as LineBasicMaterial).color = new Color(colour("line-strong"));
    this.group.remove(this.grid);
    this.grid.dispose();
    this.grid = this.ground();
    this.group.add(this.grid);
    this.paths.restyle();
  }

  /** Gives each node the colour of its role. */
  private paint(): void {
    const colours = Object.fromEntries(ROLES.map((role) => [role, new Color(colour(COLOURS[role]))]));
    const all = this.nodes.geometry.getAttribute("color") as BufferAttribute;
    this.roles.forEach((role, node) => {
      const { r, g, b } = colours[role] as Color;
      all.setXYZ(node, r, g, b);
    });
    all.needsUpdate = true;
  }

  private track(): void {
    const all = this.tracks.geometry.getAttribute("position") as BufferAttribute;
    let at = 0;
    for (let piece = 1; piece < this.past.length; piece++) {
      const before = this.past[piece - 1]?.places ?? this.places;
      const after = this.past[piece]?.places ?? this.places;
      for (let node = 0; node < this.places.length; node += 3) {
        all.setXYZ(at++, before[node] ?? 0, before[node + 1] ?? 0, before[node + 2] ?? 0);
        all.setXYZ(at++, after[node] ?? 0, after[node + 1] ?? 0, after[node + 2] ?? 0);
      }
    }
    all.needsUpdate = true;
    this.tracks.geometry.setDrawRange(0, at);
  }

  private ground(): GridHelper {
    const line = new Color(colour("graticule"));
    const grid = new GridHelper(1, SQUARES, line, line);
    grid.scale.z = (this.extent.most[1] - this.extent.least[1]) / this.scale;
    grid.scale.x = (this.extent.most[0] - this.extent.least[0]) / this.scale;
    return grid;
  }
}

function lengthOf(vertices: number): BufferGeometry {
  const attribute = new BufferAttribute(new Float32Array(vertices * 3), 3).setUsage(DynamicDrawUsage);
  const geometry = new BufferGeometry().setAttribute("position", attribute);
  geometry.setDrawRange(0, 0);
  return geometry;
}
