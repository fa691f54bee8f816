/** The globe on the page: an engine that computes the positions, a stage that shows them. */

import { Vector3 } from "three";
import { Mover } from "../app/mover.ts";
import type { Door, ScenarioInput, Sky } from "../engine/protocol.ts";
import { type Course, coursesOf, wayAt } from "./course.ts";
import { placeInWords, placeOf, RADIUS } from "./earth.ts";
import { Heaven } from "./heaven.ts";
import { lookAt } from "./look.ts";
import { type Point, Stage } from "./stage.ts";
import { sunAt } from "./sun.ts";
import { Tags } from "./tags.ts";

/** Milliseconds between two updates of the time. */
const TOLD = 250;
/**
 * Camera distance, in heights of the highest satellite, that shows all of them: 1.1 over the sine of half the
 * angle.
 */
const FULL = 3.1;

export interface OrbitsNow {
  time_s: number;
  ways: { flow: string; from_s: number; nodes: number[] }[];
  isls: number;
}

export class Orbits {
  courses: Course[] = [];
  /** The highlighted satellite or station. */
  marked: number | undefined;
  private readonly stage: Stage;
  private readonly heaven: Heaven;
  private readonly tags: Tags;
  private readonly start_ms: number;
  private hasNight = true;
  private told = 0;
  private isClosed = false;

  private constructor(
    host: HTMLElement,
    private readonly mover: Mover<Sky>,
    wanted: () => number,
    private readonly tell: (now: OrbitsNow) => void,
  ) {
    const { satellites, stations, flows } = mover.about;
    this.heaven = new Heaven(satellites.length, stations.length, Math.min(24, flows.length));
    mover.show(0, this.heaven.places);
    this.stage = new Stage(host, this.reach(), (wall) => this.move(wanted(), wall));
    this.stage.scene.add(this.heaven.group);
    this.stage.ground(this.heaven.ground);
    this.tags = new Tags(host);
    this.start_ms = Date.parse(mover.about.start);
  }

  static async open(
    host: HTMLElement,
    door: Door,
    input: ScenarioInput,
    end_s: number,
    wanted: () => number,
    tell: (now: OrbitsNow) => void,
  ): Promise<Orbits> {
    const mover = await Mover.open<Sky>(door, "sky", input);
    const orbits = new Orbits(host, mover, wanted, tell);
    void coursesOf(door, mover.about, end_s).then(
      (courses) => {
        orbits.courses = courses;
        orbits.told = 0;
        orbits.stage.paint();
      },
      () => undefined,
    );
    return orbits;
  }

  get sky(): Sky {
    return this.mover.about;
  }

  nameOf(node: number): string {
    const { satellites, stations } = this.sky;
    return satellites[node] ?? stations[node - satellites.length] ?? "";
  }

  placeOf(node: number) {
    const { places } = this.heaven;
    return placeOf(places[node * 3] ?? 0, places[node * 3 + 1] ?? 0, places[node * 3 + 2] ?? 0);
  }

  key(key: string): boolean {
    return this.stage.key(key);
  }

  showLinks(isOn: boolean): void {
    this.heaven.showLinks(isOn);
    this.stage.paint();
  }

  /** Whether the date of the scenario is known, and with it the position of the sun. */
  get hasSun(): boolean {
    return Number.isFinite(this.start_ms);
  }

  showNight(isOn: boolean): void {
    this.hasNight = isOn;
    this.stage.paint();
  }

  showReal(isOn: boolean): void {
    this.heaven.showReal(isOn);
    this.stage.ground(this.heaven.ground);
  }

  /** Turns the globe so that a node faces the camera. */
  face(node: number): void {
    this.marked = node;
    const distance = this.stage.camera.position.length();
    this.stage.from(this.point(node).setLength(distance));
  }

  restyle(): void {
    this.heaven.restyle();
    this.stage.ground(this.heaven.ground);
  }

  close(): void {
    this.isClosed = true;
    this.stage.close();
    this.tags.clear();
    this.mover.close();
  }

  private move(wanted: number, wall: number): boolean {
    if (this.isClosed) {
      return false;
    }
    this.mover.want(wanted, wall);
    const isMoving = !this.mover.isAtRest(wall);
    const time_s = this.mover.show(wall, this.heaven.places);
    const ways = this.courses.map((course) => ({ flow: course.flow, ...wayAt(course, time_s) }));
    this.heaven.moved(this.mover.isls);
    this.heaven.ways(ways.map(({ nodes }) => nodes));
    this.heaven.light(this.hasNight ? sunAt(this.start_ms + time_s * 1000) : undefined);
    this.name();
    if (wall - this.told >= TOLD || this.told === 0) {
      this.told = wall;
      this.tell({ time_s, ways, isls: this.mover.isls.length / 2 });
    }
    return isMoving;
  }

  private name(): void {
    const { satellites, stations } = this.sky;
    this.tags.show(stations, (index) => this.seen(satellites.length + index));
    const named = this.stage.pointed(this.mover.count, (node) => this.seen(node)) ?? this.marked;
    const at = named === undefined ? undefined : this.seen(named);
    this.tags.hover(named === undefined ? undefined : this.says(named), at);
  }

  private says(node: number): string {
    const place = this.placeOf(node);
    const height = node < this.sky.satellites.length ? `, ${Math.round(place.height / 1000)} km` : "";
    return `${this.nameOf(node)}\n${placeInWords(place)}${height}`;
  }

  /** Returns the canvas position of a node, if the Earth does not hide it. */
  private seen(node: number): Point | undefined {
    const point = this.point(node);
    const eye = this.stage.camera.position;
    const toPoint = point.clone().sub(eye);
    const along = -eye.dot(toPoint) / toPoint.lengthSq();
    const isHidden = along > 0 && along < 0.999 && eye.clone().addScaledVector(toPoint, along).length() < 0.99;
    const at = this.stage.project(point);
    return isHidden || at.depth > 1 ? undefined : at;
  }

  private point(node: number): Vector3 {
    const { places } = this.heaven;
    const [x = 0, y = 0, z = 0] = places.subarray(node * 3, node * 3 + 3);
    return new Vector3(x, z, -y).divideScalar(RADIUS);
  }

  /** Returns the initial view: centred on the stations of flows, with all of them and the highest satellite in view. */
  private reach() {
    const { satellites, stations, flows } = this.sky;
    const used = new Set(flows.flatMap(({ from, to }) => [from, to]));
    const shown = used.size > 0 ? [...used] : stations.map((_, index) => index);
    const { places } = this.heaven;
    const highest = Math.max(
      1,
      ...satellites.map((_, node) => Math.hypot(...places.subarray(node * 3, node * 3 + 3)) / RADIUS),
    );
    const points = shown.map((station) => this.point(satellites.length + station));
    const eye = lookAt(points, Math.max(2.9, highest * FULL));
    const from = eye.toArray() as [number, number, number];
    return { near: 1.25, far: eye.length() * 3, from, fills: 1.1 * highest };
  }
}
