/** The animation of a network: stores the reports of the run, and selects what each frame shows. */

import { Clock } from "../app/clock.ts";
import { Mover } from "../app/mover.ts";
import type { Ways } from "../app/ways.ts";
import type { Door, Flight, Network, ScenarioInput, Tables } from "../engine/protocol.ts";
import { Hops } from "./hops.ts";
import type { QueueSoFar } from "./messages.ts";
import { Painter } from "./painter.ts";
import { above, linksBetween, moved, ofWays, type Plan, wired } from "./plan.ts";
import { Queues } from "./queues.ts";
import type { Replay } from "./replay.ts";

/** Milliseconds between two updates of the numbers, in the animation and in the table. */
const TOLD = 250;
/**
 * Time in milliseconds that a packet needs on the screen to cross the longest link: below TOO_FAST packets are too fast
 * for the eye, and below BLUR none is drawn.
 */
const TOO_FAST = 60;
const BLUR = 12;
/** Maximum time in milliseconds by which a frame advances a replay: a hidden page pauses it. */
const LONGEST_FRAME = 100;
/** Minimum age in seconds of stored hops; longer for longer links. */
const KEPT = 2;

export interface Figures {
  time_s: number;
  packets: number;
  oneOf: number;
  isTooFast: boolean;
  /** Links in the table, by index. */
  links: { link: number; queue: number; most: number; dropped: number; moving: number }[];
}

export class Moving {
  private readonly queues: Queues;
  /** Displayed queue lengths, by link. */
  private lengths = new Map<number, number>();
  private readonly hops: Hops;
  private readonly linksOf: (from: number, to: number) => number[];
  private readonly clock = new Clock();
  private readonly painter: Painter;
  private readonly longest: number;
  private plan: Plan;
  private planOf = "";
  private frame = 0;
  private told = 0;
  private shown = 0;
  /** Seconds of the run per millisecond. */
  private speed = 0;
  private wall = 0;
  private mover: Mover<Flight> | undefined;
  private places = new Float32Array();
  private oldest: number | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly network: Network,
    private readonly ways: Ways,
    private readonly isStill: boolean,
    private readonly tell: (figures: Figures) => void,
    private readonly replay?: Replay,
  ) {
    this.hops = replay?.hops ?? new Hops(network.links);
    this.queues = new Queues(replay !== undefined);
    for (const tables of replay?.queues ?? []) {
      this.queues.add(tables);
    }
    this.linksOf = linksBetween(network);
    this.longest = Math.max(0.01, ...network.links.map(({ delay_s }) => delay_s));
    this.plan = wired(network, this.isTall);
    this.painter = new Painter(canvas, this.plan);
    this.showPlan(this.plan);
    const step = (wall: number) => {
      this.frame = requestAnimationFrame(step);
      if ((!this.isStill && !this.isResting) || wall - this.told >= TOLD) {
        this.paint(wall);
      }
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Follows nodes with radios, which move: their positions are queried from an engine. */
  async follow(door: Door, input: ScenarioInput): Promise<void> {
    this.mover = await Mover.open<Flight>(door, "flight", input);
    this.places = new Float32Array(this.mover.count * 3);
    this.mover.show(0, this.places);
    this.showPlan(above(this.network, this.radios(this.mover.about.nodes), this.places));
  }

  add(tables: Tables): void {
    this.hops.add(tables);
    this.queues.add(tables);
  }

  /** Updates the queues of the run so far. */
  take(queues: QueueSoFar[]): void {
    this.queues.take(queues);
  }

  /** Shows another plan. A linear plan needs less height. */
  private showPlan(plan: Plan): void {
    this.plan = plan;
    const [first] = plan.spots;
    this.canvas.classList.toggle("flat", plan.extent === undefined && plan.spots.every(({ y }) => y === first?.y));
    this.painter.show(plan);
  }

  /** Goes to a time of a replay, and pauses there. */
  seek(time_s: number): void {
    if (this.replay) {
      this.replay.now_s = time_s;
      this.replay.isPlaying = false;
      this.painter.again();
      this.told = 0;
    }
  }

  /** Plays or pauses a replay. */
  play(isPlaying: boolean): void {
    if (this.replay) {
      this.replay.isPlaying = isPlaying;
    }
  }

  /** Updates the newest time of the run. */
  at(now: number): void {
    this.clock.tell(now, performance.now());
  }

  resize(): void {
    if (this.network.sky === null && !this.mover) {
      this.showPlan(wired(this.network, this.isTall));
    }
    this.planOf = "";
    this.painter.resize();
  }

  restyle(): void {
    this.painter.restyle();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.mover?.close();
  }

  /** Whether a replay is paused, and nothing moves. */
  private get isResting(): boolean {
    return this.replay?.isPlaying === false && !this.painter.isFalling;
  }

  private get isTall(): boolean {
    return this.canvas.clientWidth < 500;
  }

  private radios(names: string[]): number[] {
    const numbers = new Map(this.network.nodes.map(({ name }, number) => [name, number]));
    return names.map((name) => numbers.get(name) ?? -1);
  }

  private paint(wall: number): void {
    const frame = Math.max(1, Math.min(500, wall - this.wall));
    const shown = this.replay ? this.replayed(this.replay, frame) : this.timeOf(wall, frame);
    this.shown = shown;
    this.wall = wall;
    const ways = this.waysNow(shown, wall);
    if (!this.replay) {
      this.hops.forget(shown - Math.max(KEPT, 2 * this.longest));
    }
    const crossing = this.replay ? TOO_FAST : this.longest / this.speed;
    const hasPackets = (this.replay !== undefined || !this.isStill) && crossing > BLUR;
    const isDue = this.wall - this.told >= TOLD;
    if (isDue) {
      this.lengths = new Map(this.queues.busiest().map((link) => [link, this.queues.at(link, shown)]));
    }
    const sum = (links: number[], of: (link: number) => number) => links.reduce((all, link) => all + of(link), 0);
    const levels = {
      at: (links: number[]) => sum(links, (link) => this.queues.at(link, shown)),
      most: (links: number[]) => sum(links, (link) => this.queues.most(link)),
      number: (links: number[]) => sum(links, (link) => this.lengths.get(link) ?? 0),
    };
    const hops = this.replay ? this.hops.around(shown, this.older(this.replay)) : this.hops.kept;
    this.painter.paint(shown, wall, hasPackets ? hops : [], levels, ways);
    if (isDue) {
      this.told = this.wall;
      this.tell({ time_s: shown, ...this.painter.drawn, isTooFast: crossing < TOO_FAST, links: this.table(shown) });
    }
  }

  /** Returns the time of the run to show. */
  private timeOf(wall: number, frame: number): number {
    const shown = this.isStill ? this.clock.at(Number.POSITIVE_INFINITY) : this.clock.at(wall);
    this.speed += (Math.max(0, shown - this.shown) / frame - this.speed) * Math.min(1, frame / 500);
    return shown;
  }

  /** Advances a replay; after its end, it starts again. */
  private replayed(replay: Replay, frame: number): number {
    if (replay.isPlaying && !this.isStill) {
      replay.now_s += (Math.min(frame, LONGEST_FRAME) / 1000) * replay.speed;
      if (replay.now_s > replay.to_s) {
        replay.now_s = replay.from_s;
        this.painter.again();
      }
    }
    return replay.now_s;
  }

  /** Returns the maximum age of a hop in a replay, from its arrival at a queue to its end. */
  private older({ hops, longest_s }: Replay): number {
    this.oldest ??= hops.kept.reduce(
      (most, hop) => (hop.isTold ? Math.max(most, hop.end - hop.start) : most),
      longest_s,
    );
    return this.oldest;
  }

  /**
   * Returns the paths of flows to draw over moving nodes. Over satellites there are none to add: the plan consists of
   * them.
   */
  private waysNow(shown: number, wall: number): [flow: number, nodes: number[]][] {
    const { sky, nodes } = this.network;
    if (this.mover) {
      this.mover.want(shown, wall);
      this.mover.show(wall, this.places);
      this.showPlan(moved(this.plan, this.places));
    }
    if (!sky && !this.mover) {
      return [];
    }
    const ways = [...this.ways.at(shown)].map(([flow, way]): [number, number[]] => [flow, way.nodes]);
    const key = JSON.stringify(ways);
    if (sky && ways.length > 0 && key !== this.planOf) {
      this.planOf = key;
      const nameOf = (node: number) => nodes[node]?.name ?? `node ${node}`;
      const kindOf = (node: number) => nodes[node]?.kind ?? "satellite";
      const plan = ofWays(
        ways.map(([, way]) => way),
        nameOf,
        kindOf,
        this.isTall,
        this.linksOf,
      );
      this.showPlan(plan);
    }
    return ways;
  }

  private table(shown: number): Figures["links"] {
    const moving = new Map<number, number>();
    const hops = this.replay ? this.hops.around(shown, this.older(this.replay)) : this.hops.kept;
    for (const { link, start, end, isTold } of hops) {
      if (start <= shown && (end > shown || !isTold)) {
        moving.set(link, (moving.get(link) ?? 0) + 1);
      }
    }
    return this.queues
      .busiest()
      .slice(0, 12)
      .map((link) => ({
        link,
        queue: this.lengths.get(link) ?? 0,
        most: this.queues.most(link),
        dropped: this.queues.dropped(link),
        moving: moving.get(link) ?? 0,
      }));
  }
}
