/** The flight on the page: an engine that computes the positions, a stage that shows them. */

import { Mover } from "../app/mover.ts";
import { colour } from "../app/theme.ts";
import type { Ways } from "../app/ways.ts";
import type { Door, Flight, Scenario, ScenarioInput } from "../engine/protocol.ts";
import { extentOf } from "./area.ts";
import { type Mark, marksOf } from "./axes.ts";
import { Cloud, ROLES, type Role } from "./cloud.ts";
import { type Point, Stage } from "./stage.ts";
import { Tags } from "./tags.ts";

const TOLD = 250;
/** Maximum number of flows whose paths are shown. */
const MOST_FLOWS = 40;
/** Pixels of the view's width per name. Nodes beyond that are named under the pointer only. */
const ROOM = 32;
/** Width divided by height of a view that contains the area from the nearest camera. */
const WIDE = 1.6;

export interface FlockNow {
  time_s: number;
  ways: { flow: number; since_s: number; nodes: string[] }[];
  /** Number of pairs of nodes that hear each other, where known. */
  links: number;
}

export class Flock {
  private readonly stage: Stage;
  private readonly cloud: Cloud;
  private readonly tags: Tags;
  private readonly axes: Tags;
  private readonly marks: Mark[];
  /** Index of a node in the flight, by its index in the run. */
  private readonly numberOf: Map<number, number>;
  private told = 0;
  private marked: number | undefined;
  private roles: readonly Role[] = [];
  private hasNames = true;

  private constructor(
    host: HTMLElement,
    private readonly mover: Mover<Flight>,
    scenario: Scenario | undefined,
    private readonly nodes: string[],
    private readonly ways: Ways,
    wanted: () => number,
    private readonly tell: (now: FlockNow) => void,
  ) {
    const { about, count } = mover;
    const first = new Float32Array(count * 3);
    mover.show(0, first);
    const extent = about.extent ?? extentOf(scenario, first);
    this.cloud = new Cloud(count, extent, MOST_FLOWS);
    this.marks = marksOf(extent);
    this.cloud.places.set(first);
    const places = new Map(about.nodes.map((name, index) => [name, index]));
    this.numberOf = new Map(nodes.flatMap((name, node) => (places.has(name) ? [[node, places.get(name) ?? 0]] : [])));
    this.stage = new Stage(host, reachOf(host), (wall) => this.move(wanted(), wall));
    this.stage.scene.add(this.cloud.group);
    this.stage.ground(colour("heaven"));
    this.axes = new Tags(host, "axis");
    this.tags = new Tags(host);
  }

  static async open(
    host: HTMLElement,
    door: Door,
    input: ScenarioInput,
    nodes: string[],
    ways: Ways,
    wanted: () => number,
    tell: (now: FlockNow) => void,
  ): Promise<Flock> {
    const mover = await Mover.open<Flight>(door, "flight", input);
    const { scenario } = await door.ask({ op: "check", ...input });
    return new Flock(host, mover, scenario, nodes, ways, wanted, tell);
  }

  get names(): string[] {
    return this.mover.about.nodes;
  }

  /** Returns the position of a node, in metres. */
  placeOf(node: number): [x: number, y: number, z: number] {
    const [x = 0, y = 0, z = 0] = this.cloud.places.subarray(node * 3, node * 3 + 3);
    return [x, y, z];
  }

  key(key: string): boolean {
    return this.stage.key(key);
  }

  mark(node: number | undefined): void {
    this.marked = node;
    this.stage.paint();
  }

  showNames(isOn: boolean): void {
    this.hasNames = isOn;
    this.stage.paint();
  }

  /** Returns the role of a node on the paths of flows. */
  roleOf(node: number): Role {
    return this.roles[node] ?? "other";
  }

  /** Side lengths of a square of the ground as text. */
  get square(): string {
    const [x, y] = this.cloud.square.map((side) => Number(side.toPrecision(3)));
    return x === y ? `${x} m` : `${x} m × ${y} m`;
  }

  showTracks(isOn: boolean): void {
    this.cloud.showTracks(isOn);
    this.stage.paint();
  }

  /** Whether links between nodes are known. */
  get hasLinks(): boolean {
    return this.mover.about.extent !== undefined;
  }

  showLinks(isOn: boolean): void {
    this.cloud.showLinks(isOn);
    this.stage.paint();
  }

  restyle(): void {
    this.cloud.restyle();
    this.stage.ground(colour("heaven"));
  }

  close(): void {
    this.stage.close();
    this.tags.clear();
    this.axes.clear();
    this.mover.close();
  }

  private move(wanted: number, wall: number): boolean {
    this.mover.want(wanted, wall);
    const isMoving = !this.mover.isAtRest(wall);
    const time_s = this.mover.show(wall, this.cloud.places);
    this.cloud.moved(time_s);
    this.cloud.links(this.mover.isls, this.mover.strengths);
    const ways = this.ways.at(time_s);
    const inFlight = (node: number) => this.numberOf.get(node) ?? -1;
    this.roles = this.cloud.ways(
      Array.from({ length: MOST_FLOWS }, (_, flow) =>
        ways
          .get(flow)
          ?.nodes.map(inFlight)
          .filter((node) => node >= 0),
      ),
    );
    this.name();
    if (wall - this.told >= TOLD || this.told === 0) {
      this.told = wall;
      const told = [...ways].map(([flow, way]) => ({
        flow,
        since_s: way.time_s,
        nodes: way.nodes.map((node) => this.nodes[node] ?? ""),
      }));
      const links = this.mover.isls.length / 2;
      this.tell({ time_s, links, ways: told.sort((one, other) => one.flow - other.flow) });
    }
    return isMoving;
  }

  private name(): void {
    const { names } = this;
    const ends = this.marks.map(({ says }) => says);
    this.axes.show(ends, (at) => this.seenAt(this.marks[at]?.at ?? [0, 0, 0]));
    const named = this.hasNames ? this.named(Math.floor(this.stage.canvas.clientWidth / ROOM)) : [];
    this.tags.show(
      named.map((node) => names[node] ?? ""),
      (at) => this.seen(named[at] ?? 0),
    );
    const node = this.stage.pointed(names.length, (node) => this.seen(node)) ?? this.marked;
    const at = node === undefined ? undefined : this.seen(node);
    this.tags.hover(node === undefined ? undefined : `${names[node]}\n${inMetres(this.placeOf(node))}`, at);
  }

  /** Returns the nodes with names, the most important first: those on the paths of flows. */
  private named(most: number): number[] {
    const nodes = this.names.map((_, node) => node);
    const rank = (node: number) => ROLES.indexOf(this.roleOf(node));
    return nodes.sort((one, other) => rank(one) - rank(other) || one - other).slice(0, most);
  }

  private seen(node: number): Point | undefined {
    return this.seenAt(this.placeOf(node));
  }

  private seenAt(place: [x: number, y: number, z: number]): Point | undefined {
    const at = this.stage.project(this.cloud.point(...place));
    return at.depth > 1 ? undefined : at;
  }
}

/** Returns the initial camera distance, with the entire area in view even if the view is narrow. */
function reachOf({ clientWidth, clientHeight }: HTMLElement) {
  const back = Math.min(2, 1.2 * Math.max(1, WIDE / (clientWidth / clientHeight || WIDE)));
  return { near: 0.25, far: 5, from: [0.62 * back, 0.72 * back, 1.05 * back] as [number, number, number] };
}

/** Describes a position as text: east, north, up. */
export function inMetres([x, y, z]: [number, number, number]): string {
  return `${Math.round(x)} m east, ${Math.round(y)} m north, ${Math.round(z)} m up`;
}
