import { describe, expect, test } from "vitest";
import type { Door, Request, Sky } from "../engine/protocol.ts";
import { between, Mover } from "./mover.ts";

/** Returns an engine whose only satellite moves along x at 10 m/s. */
function door(asked: Request[]): Door {
  const one = (value: number) => ({ values: Float64Array.of(value) });
  return {
    ask: async (request: Request) => {
      asked.push(request);
      if (request.op === "places_at") {
        const { time_s } = request;
        const places = { rows: 1, columns: { x: one(10 * time_s), y: one(0), z: one(1) } };
        const isls = { rows: 1, columns: { a: { values: Uint32Array.of(0) }, b: { values: Uint32Array.of(3) } } };
        return { time_s, tables: { places, isls } };
      }
      return { place: 7, satellites: ["a"], stations: [], start: "", interval_s: 1, flows: [] };
    },
    close: () => undefined,
  } as unknown as Door;
}

describe("Mover", () => {
  test("sends up to ten queries per second and interpolates in between", async () => {
    const asked: Request[] = [];
    const mover = await Mover.open<Sky>(door(asked), "sky", { toml: "" });
    const wall = performance.now();
    mover.want(1, wall + 50);
    expect(asked).toHaveLength(2);
    mover.want(1, wall + 200);
    mover.want(2, wall + 400);
    expect(asked).toHaveLength(3);
    await Promise.resolve();
    await new Promise((done) => setImmediate(done));
    const into = new Float32Array(3);
    const now = mover.show(performance.now() + 5_000, into);
    expect(now).toBe(1);
    expect([...into]).toEqual([10, 0, 1]);
    const early = mover.show(0, into);
    expect(into[0]).toBeCloseTo(10 * early);
    expect([...mover.isls]).toEqual([0, 3]);
    mover.close();
    expect(asked.at(-1)).toEqual({ op: "leave", place: 7 });
  });

  test("an error in the scenario is reported", async () => {
    const wrong = {
      ask: async () => ({ errors: [{ path: "stations", message: "no stations" }] }),
      close: () => undefined,
    };
    await expect(Mover.open<Sky>(wrong as unknown as Door, "sky", { toml: "" })).rejects.toThrow("no stations");
  });
});

test("positions between two samples are on a straight line", () => {
  const into = new Float32Array(3);
  between(Float32Array.of(0, 10, -4), Float32Array.of(2, 20, 4), 0.25, into);
  expect([...into]).toEqual([0.5, 12.5, -2]);
});
