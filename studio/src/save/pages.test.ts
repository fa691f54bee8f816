import { describe, expect, test } from "vitest";
import { arrivedOf, connectionsOf, endOf, type LoadedObject, type PageLoad, Pages } from "./pages.ts";

/** Rows in the order of the engine: by flow and then by arrival. Flow 2 is the second connection of flow 1. */
const OBJECTS = [
  // time_s, flow, page, object, connection, start_s, first_byte_s, end_s, bytes
  [1, 1, 1, 0, 1, 1.25, 2, 3, 600],
  [3, 1, 1, 2, 2, 3.5, 4, 4, 100],
  [3, 1, 1, 1, 1, 3, 4, 5, 300],
  [8, 1, 2, 0, 1, 8, 9, 10, 600],
  [0, 0, 1, 3, 0, 0, 1, 2, 50],
] as const;
const OBJECT_COLUMNS = [
  "time_s",
  "flow",
  "page",
  "object",
  "connection",
  "start_s",
  "first_byte_s",
  "end_s",
  "bytes",
] as const;

function tables() {
  const objects = OBJECT_COLUMNS.map((name, at) => {
    const values = Float64Array.from(OBJECTS.map((row) => row[at] ?? Number.NaN));
    return [name, name === "object" ? { values, names: ["html", "style", "icon", "feed"] } : { values }];
  });
  return {
    objects: { rows: OBJECTS.length, columns: Object.fromEntries(objects) },
    responses: {
      rows: 2,
      columns: {
        time_s: { values: Float64Array.of(0.5, 0) },
        flow: { values: Uint32Array.of(1, 0), names: "flows" as const },
        duration_s: { values: Float64Array.of(4.5, 2) },
        byte_index_s: { values: Float64Array.of(2.5, Number.NaN) },
      },
    },
  };
}

const pages = () => new Pages(tables(), ["feed", "page", "page.2"]);

describe("pages", () => {
  test("are the flows of the table, with their loads", () => {
    expect(pages().list()).toEqual([
      { flow: 1, pages: [1, 2] },
      { flow: 0, pages: [1] },
    ]);
    expect(new Pages({}, []).list()).toEqual([]);
  });

  test("times count from the start of the load, and rows are in the order of requests", () => {
    const load = pages().load(1, 1) as PageLoad;
    expect(load).toEqual({
      flow: "page",
      page: 1,
      objects: [
        { name: "html", connection: "page", bytes: 600, known_s: 0.5, start_s: 0.75, firstByte_s: 1.5, end_s: 2.5 },
        { name: "style", connection: "page", bytes: 300, known_s: 2.5, start_s: 2.5, firstByte_s: 3.5, end_s: 4.5 },
        { name: "icon", connection: "page.2", bytes: 100, known_s: 2.5, start_s: 3, firstByte_s: 3.5, end_s: 3.5 },
      ],
      took_s: 4.5,
      byteIndex_s: 2.5,
    });
    expect(connectionsOf(load)).toEqual(["page", "page.2"]);
    expect(endOf(load)).toBe(4.5);
  });

  test("a load that is not complete starts with its first object, and has no load time", () => {
    const load = pages().load(1, 2);
    expect(load).toEqual({
      flow: "page",
      page: 2,
      objects: [{ name: "html", connection: "page", bytes: 600, known_s: 0, start_s: 0, firstByte_s: 1, end_s: 2 }],
    });
  });

  test("a ByteIndex may be missing, and so may a load", () => {
    expect(pages().load(0, 1)).toMatchObject({ flow: "feed", took_s: 2 });
    expect(pages().load(0, 1)).not.toHaveProperty("byteIndex_s");
    expect(pages().load(1, 3)).toBeUndefined();
    expect(pages().load(2, 1)).toBeUndefined();
  });
});

describe("the curve of arrived bytes", () => {
  const object = (bytes: number, firstByte_s: number, end_s: number): LoadedObject => {
    return { name: "", connection: "", bytes, known_s: 0, start_s: 0, firstByte_s, end_s };
  };

  test("rises at a constant rate from the first byte of an object to its last, and steps at an object of one packet", () => {
    const { x, y } = arrivedOf(pages().load(1, 1) as PageLoad);
    expect(x).toEqual([0, 1.5, 2.5, 3.5, 3.5, 4.5]);
    expect(y).toEqual([0, 0, 0.6, 0.6, 0.7, 1]);
  });

  test("adds the rates of objects that arrive at the same time", () => {
    const { x, y } = arrivedOf({ flow: "", page: 1, objects: [object(300, 1, 4), object(100, 2, 3)] });
    expect(x).toEqual([0, 1, 2, 3, 4]);
    expect(y).toEqual([0, 0, 0.25, 0.75, 1]);
  });

  test("has an area above it that is the mean arrival time, weighted by size", () => {
    const objects = [object(700, 0.5, 2), object(200, 1, 3.25), object(100, 2.5, 2.5)];
    const { x, y } = arrivedOf({ flow: "", page: 1, objects });
    let area = 0;
    for (let at = 1; at < x.length; at++) {
      area += (1 - ((y[at] as number) + (y[at - 1] as number)) / 2) * ((x[at] as number) - (x[at - 1] as number));
    }
    expect(area).toBeCloseTo(0.7 * 1.25 + 0.2 * 2.125 + 0.1 * 2.5, 12);
  });
});
