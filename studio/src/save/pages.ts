/** Loads of web pages in a run: their objects, and the bytes that had arrived at each time. */

import type { Column, Table, Tables } from "../engine/protocol.ts";
import type { Recorded } from "../engine/results.gen.ts";

/** An object of a page. Times are in seconds since the start of the load. */
export interface LoadedObject {
  name: string;
  /** Flow of the connection that carried the object. */
  connection: string;
  /** Size of the response. */
  bytes: number;
  /** Time when the browser could request the object. */
  known_s: number;
  /** Time when its request was written. */
  start_s: number;
  firstByte_s: number;
  end_s: number;
}

/** A load of a page. */
export interface PageLoad {
  flow: string;
  /** Index of the load, from 1. */
  page: number;
  /** The objects that arrived, in the order in which the browser could request them; at least one. */
  objects: LoadedObject[];
  /** Time until the page had arrived completely; undefined if it had not at the end of the run. */
  took_s?: number;
  byteIndex_s?: number;
}

/** A flow, by its index, and the loads of its page, except loads without an object that arrived. */
export interface PageFlow {
  flow: number;
  pages: number[];
}

/** The pages of a run whose flows have these names. */
export class Pages {
  private readonly objects: Rows<"objects">;
  private readonly responses: Rows<"responses">;

  constructor(
    { objects, responses }: Pick<Tables, "objects" | "responses">,
    private readonly flows: readonly string[],
  ) {
    this.objects = new Rows(objects);
    this.responses = new Rows(responses);
  }

  /** Returns the flows in the order of the table, and their loads in ascending order. */
  list(): PageFlow[] {
    const pages = new Map<number, Set<number>>();
    for (let row = 0; row < this.objects.count; row++) {
      const flow = this.objects.at("flow", row);
      const known = pages.get(flow) ?? new Set();
      pages.set(flow, known.add(this.objects.at("page", row)));
    }
    return [...pages].map(([flow, indices]) => ({ flow, pages: [...indices].sort((a, b) => a - b) }));
  }

  /** Returns a load of a page; undefined if none of its objects arrived. */
  load(flow: number, page: number): PageLoad | undefined {
    const { objects, responses } = this;
    const rows = objects.sorted(
      (row) => objects.at("flow", row) === flow && objects.at("page", row) === page,
      "time_s",
      "start_s",
      "end_s",
    );
    const [first] = rows;
    if (first === undefined) {
      return undefined;
    }
    // The loads of a page are the responses of its flow.
    const done = responses.sorted((row) => responses.at("flow", row) === flow, "time_s")[page - 1];
    const begin_s = done === undefined ? objects.at("time_s", first) : responses.at("time_s", done);
    const load: PageLoad = {
      flow: this.flows[flow] ?? "",
      page,
      objects: rows.map((row) => this.object(row, begin_s)),
    };
    if (done !== undefined) {
      load.took_s = responses.at("duration_s", done);
      const byteIndex_s = responses.at("byte_index_s", done);
      if (!Number.isNaN(byteIndex_s)) {
        load.byteIndex_s = byteIndex_s;
      }
    }
    return load;
  }

  private object(row: number, begin_s: number): LoadedObject {
    const time = (column: Recorded["objects"]) => this.objects.at(column, row) - begin_s;
    return {
      name: this.objects.name("object", row),
      connection: this.flows[this.objects.at("connection", row)] ?? "",
      bytes: this.objects.at("bytes", row),
      known_s: time("time_s"),
      start_s: time("start_s"),
      firstByte_s: time("first_byte_s"),
      end_s: time("end_s"),
    };
  }
}

/** The rows of a table, which may be missing. */
class Rows<Name extends "objects" | "responses"> {
  readonly count: number;

  constructor(private readonly table: Table<Recorded[Name]> | undefined) {
    this.count = table?.rows ?? 0;
  }

  at(column: Recorded[Name], row: number): number {
    return this.column(column)?.values[row] ?? Number.NaN;
  }

  /** Returns the text of a column that has a list of names. */
  name(column: Recorded[Name], row: number): string {
    const names = this.column(column)?.names;
    return (Array.isArray(names) ? names[this.at(column, row)] : undefined) ?? "";
  }

  /** Returns the indices of the wanted rows, sorted by columns; rows with equal values keep their order. */
  sorted(isWanted: (row: number) => boolean, ...columns: Recorded[Name][]): number[] {
    const rows = Array.from({ length: this.count }, (_, row) => row).filter(isWanted);
    return rows.sort((a, b) => {
      const differing = columns.find((column) => this.at(column, a) !== this.at(column, b));
      return differing ? this.at(differing, a) - this.at(differing, b) : a - b;
    });
  }

  private column(name: Recorded[Name]): Column | undefined {
    return this.table?.columns[name];
  }
}

/** Returns the connections of a load in the order of their first request. */
export function connectionsOf({ objects }: PageLoad): string[] {
  return [...new Set(objects.toSorted((a, b) => a.start_s - b.start_s).map(({ connection }) => connection))];
}

/** Returns the end of the time axis: the page is complete, or its last object has arrived. */
export function endOf({ objects, took_s = 0 }: PageLoad): number {
  return Math.max(took_s, ...objects.map(({ end_s }) => end_s)) || 1;
}

/**
 * Returns times and the fraction of the objects' bytes that had arrived, for a curve of straight lines. An object
 * arrives at a constant rate from its first byte to its last.
 */
export function arrivedOf({ objects }: PageLoad): { x: number[]; y: number[] } {
  const total = objects.reduce((sum, { bytes }) => sum + bytes, 0);
  const slopes = new Map<number, number>();
  const steps = new Map<number, number>();
  const add = (to: Map<number, number>, time_s: number, value: number) => to.set(time_s, (to.get(time_s) ?? 0) + value);
  for (const { bytes, firstByte_s, end_s } of objects) {
    if (end_s > firstByte_s) {
      const rate = bytes / (end_s - firstByte_s);
      add(slopes, firstByte_s, rate);
      add(slopes, end_s, -rate);
    } else {
      add(steps, end_s, bytes);
    }
  }
  const corners = [...new Set([0, ...slopes.keys(), ...steps.keys()])].sort((a, b) => a - b);
  const [x, y] = [[0], [0]];
  let [slope, sum, last_s] = [0, 0, 0];
  for (const time_s of corners.slice(1)) {
    slope += slopes.get(last_s) ?? 0;
    sum += slope * (time_s - last_s);
    last_s = time_s;
    x.push(time_s);
    y.push(Math.min(sum / total, 1));
    const step = steps.get(time_s);
    if (step) {
      sum += step;
      x.push(time_s);
      y.push(Math.min(sum / total, 1));
    }
  }
  return { x, y };
}
