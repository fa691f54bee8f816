/** The flight as it lives on the page: an engine that knows the places, a stage that shows them. */

import { Mover } from "../app/mover.ts";
import { colour } from "../app/theme.ts";
import type { Ways } from "../app/ways.ts";
import type { Asked, Door, Flight, Scenario } from "../engine/protocol.ts";
import { extentOf } from "./area.ts";
import { Cloud } from "./cloud.ts";
import { Stage } from "./stage.ts";
import { Tags } from "./tags.ts";

const TOLD = 250;
const REACH = 14;
/** As many flows have their ways shown. */
const MOST_FLOWS = 40;
/** Pixels of width for a name: where there are less, a node is named under the pointer only. */
const ROOM = 40;

export interface FlockNow {
  time_s: number;
  ways: { flow: number; since_s: number; nodes: string[] }[];
}

export class Flock {
  private readonly stage: Stage;
  private readonly cloud: Cloud;
  private readonly tags: Tags;
  /** The number in the flight of each node of the run. */
  private readonly numberOf: Map<number, number>;
  private told = 0;
  private pointer: { x: number; y: number } | undefined;
  private marked: number | undefined;

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
    this.cloud = new Cloud(count, extentOf(scenario, first), MOST_FLOWS);
    this.cloud.places.set(first);
    const places = new Map(about.nodes.map((name, index) => [name, index]));
    this.numberOf = new Map(nodes.flatMap((name, node) => (places.has(name) ? [[node, places.get(name) ?? 0]] : [])));
    const reach = { near: 0.25, far: 5, from: [0.62, 0.72, 1.05] as [number, number, number] };
    this.stage = new Stage(host, reach, (wall) => this.move(wanted(), wall));
    this.stage.scene.add(this.cloud.group);
    this.stage.ground(colour("heaven"));
    this.tags = new Tags(host);
    this.stage.canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
      this.pointer = { x: offsetX, y: offsetY };
      this.stage.paint();
    });
    this.stage.canvas.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      this.stage.paint();
    });
  }

  static async open(
    host: HTMLElement,
    door: Door,
    asked: Asked,
    nodes: string[],
    ways: Ways,
    wanted: () => number,
    tell: (now: FlockNow) => void,
  ): Promise<Flock> {
    const mover = await Mover.open<Flight>(door, "flight", asked);
    const { scenario } = await door.ask({ op: "check", ...asked });
    return new Flock(host, mover, scenario, nodes, ways, wanted, tell);
  }

  get names(): string[] {
    return this.mover.about.nodes;
  }

  /** Where a node is, in metres. */
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

  showTracks(isOn: boolean): void {
    this.cloud.showTracks(isOn);
    this.stage.paint();
  }

  restyle(): void {
    this.cloud.restyle();
    this.stage.ground(colour("heaven"));
  }

  close(): void {
    this.stage.close();
    this.tags.clear();
    this.mover.close();
  }

  private move(wanted: number, wall: number): boolean {
    this.mover.want(wanted, wall);
    const isMoving = !this.mover.isAtRest(wall);
    const time_s = this.mover.show(wall, this.cloud.places);
    this.cloud.moved(time_s);
    const ways = this.ways.at(time_s);
    const inFlight = (node: number) => this.numberOf.get(node) ?? -1;
    this.cloud.ways(
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
      this.tell({ time_s, ways: told.sort((one, other) => one.flow - other.flow) });
    }
    return isMoving;
  }

  private name(): void {
    const { names } = this;
    this.tags.show(names.length * ROOM <= this.stage.canvas.clientWidth ? names : [], (node) => this.seen(node));
    const node = (this.pointer && this.nearest(this.pointer)) ?? this.marked;
    const at = node === undefined ? undefined : this.seen(node);
    this.tags.hover(node === undefined ? undefined : `${names[node]}\n${inMetres(this.placeOf(node))}`, at);
  }

  private nearest({ x, y }: { x: number; y: number }): number | undefined {
    const distances = this.names.map((_, node) => {
      const at = this.seen(node);
      return { node, far: at ? Math.hypot(at.x - x, at.y - y) : REACH };
    });
    const best = distances.reduce((one, other) => (other.far < one.far ? other : one), { node: -1, far: REACH });
    return best.node < 0 ? undefined : best.node;
  }

  private seen(node: number): { x: number; y: number } | undefined {
    const at = this.stage.project(this.cloud.point(...this.placeOf(node)));
    return at.depth > 1 ? undefined : at;
  }
}

/** A place in words: east, north, up. */
export function inMetres([x, y, z]: [number, number, number]): string {
  return `${Math.round(x)} m east, ${Math.round(y)} m north, ${Math.round(z)} m up`;
}
