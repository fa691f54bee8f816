/** Smooth positions of satellites or nodes: queried a few times per second, and interpolated in between. */

import type { Door, Flight, ScenarioInput, Sky, Table, Tables } from "../engine/protocol.ts";
import { Clock } from "./clock.ts";

/** Milliseconds between two queries. */
const PAUSE = 100;

/**
 * Maximum interval of interpolation in seconds: over a longer one, a straight line differs visibly from a circular
 * orbit.
 */
const LONGEST = 120;

export interface Sample {
  time_s: number;
  /** x, y and z of each satellite or node, one after another, in metres. */
  places: Float32Array;
  /** Pairs of satellites, or of nodes, with a link that is up. */
  isls: Uint32Array;
  /** Signal strength of each of these links, from 0 to 1, where known. */
  strengths: Float64Array;
}

/** Queries an engine for positions at the requested times. */
export class Mover<T extends Sky | Flight> {
  private before: Sample | undefined;
  private newest: Sample | undefined;
  private readonly clock = new Clock();
  private isAsking = false;
  private queriedAt = Number.NEGATIVE_INFINITY;
  private wanted = 0;
  private isGone = false;

  private constructor(
    private readonly door: Door,
    readonly about: T,
  ) {}

  /** @throws {Error} the error of the scenario, as text */
  static async open<T extends Sky | Flight>(
    door: Door,
    op: T extends Sky ? "sky" : "flight",
    input: ScenarioInput,
  ): Promise<Mover<T>> {
    const about = await door.ask({ op, ...input } as { op: "sky" } & ScenarioInput);
    if (about.errors) {
      throw new Error(about.errors.map(({ message }) => message).join("; "));
    }
    const mover = new Mover(door, about as Sky | Flight as T);
    await mover.ask(0, performance.now());
    return mover;
  }

  /** Requests the positions of a time. Called at each frame; sends up to ten queries per second. */
  want(time_s: number, wall: number): void {
    this.wanted = time_s;
    if (!this.isAsking && wall - this.queriedAt >= PAUSE && time_s !== this.newest?.time_s) {
      void this.ask(time_s, wall).catch(() => undefined);
    }
  }

  /** Writes the current positions into `into`, and returns their time. */
  show(wall: number, into: Float32Array): number {
    const { before, newest } = this;
    if (!newest) {
      return 0;
    }
    const time = this.clock.at(wall);
    if (before && newest.time_s > before.time_s && newest.time_s - before.time_s <= LONGEST) {
      between(before.places, newest.places, (time - before.time_s) / (newest.time_s - before.time_s), into);
    } else {
      into.set(newest.places.subarray(0, into.length));
      return newest.time_s;
    }
    return time;
  }

  /** Links that are up, as of the newest response. */
  get isls(): Uint32Array {
    return this.newest?.isls ?? new Uint32Array();
  }

  /** Signal strength of each of these links, where known. */
  get strengths(): Float64Array {
    return this.newest?.strengths ?? new Float64Array();
  }

  get count(): number {
    return (this.newest?.places.length ?? 0) / 3;
  }

  /** Returns true if nothing moves until another time is requested. */
  isAtRest(wall: number): boolean {
    return !this.isAsking && this.wanted === this.newest?.time_s && this.clock.isAtRest(wall);
  }

  close(): void {
    this.isGone = true;
    void this.door.ask({ op: "leave", place: this.about.place }).catch(() => undefined);
  }

  private async ask(time_s: number, wall: number): Promise<void> {
    this.isAsking = true;
    this.queriedAt = wall;
    try {
      const { tables } = await this.door.ask({ op: "places_at", place: this.about.place, time_s });
      if (!this.isGone) {
        this.take(sample(time_s, tables), performance.now());
      }
    } finally {
      this.isAsking = false;
    }
  }

  private take(newest: Sample, wall: number): void {
    this.clock.tell(newest.time_s, wall);
    const isBack = this.newest !== undefined && newest.time_s < this.newest.time_s;
    this.before = isBack ? undefined : this.newest;
    this.newest = newest;
  }
}

function sample(time_s: number, { places, isls }: Tables): Sample {
  return {
    time_s,
    places: triples(places),
    isls: pairs(isls),
    strengths: Float64Array.from(isls?.columns.strength?.values ?? []),
  };
}

function triples(table: Table | undefined): Float32Array {
  const { x, y, z } = table?.columns ?? {};
  const all = new Float32Array(3 * (table?.rows ?? 0));
  for (let row = 0; row * 3 < all.length; row++) {
    all[row * 3] = x?.values[row] ?? 0;
    all[row * 3 + 1] = y?.values[row] ?? 0;
    all[row * 3 + 2] = z?.values[row] ?? 0;
  }
  return all;
}

function pairs(table: Table | undefined): Uint32Array {
  const { a, b } = table?.columns ?? {};
  const all = new Uint32Array(2 * (table?.rows ?? 0));
  for (let row = 0; row * 2 < all.length; row++) {
    all[row * 2] = a?.values[row] ?? 0;
    all[row * 2 + 1] = b?.values[row] ?? 0;
  }
  return all;
}

/** Interpolates between two samples: `part` is 0 at the first and 1 at the second. */
export function between(first: Float32Array, second: Float32Array, part: number, into: Float32Array): void {
  const length = Math.min(first.length, second.length, into.length);
  for (let at = 0; at < length; at++) {
    const from = first[at] as number;
    into[at] = from + ((second[at] as number) - from) * part;
  }
}
