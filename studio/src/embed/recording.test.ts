import { expect, test } from "vitest";
import { RADIUS } from "../space/earth.ts";
import { type FlightRecording, reader, type SkyRecording, sampleAt } from "./recording.ts";

/** One satellite that moves from above 0° to above 90° east in one step, with a link in the first step only. */
function sky(): SkyRecording {
  const stored = Int16Array.from([20_000, 0, 0, 0, 20_000, 0, 0, 0, 20_000]);
  return {
    kind: "sky",
    title: "",
    note: "",
    start: "2026-01-01T00:00:00Z",
    until: 20,
    step: 10,
    knots: 3,
    satellites: ["one"],
    stations: [],
    places: btoa(String.fromCharCode(...new Uint8Array(stored.buffer))),
    unit: 1 / 20_000,
    links: [0, 0, 0, 1],
    ways: [],
    charts: [],
  };
}

const FLIGHT: FlightRecording = {
  kind: "flight",
  title: "",
  note: "",
  from: 5,
  until: 9,
  times: [5, 7, 9],
  nodes: ["a", "b"],
  places: [
    [
      [0, 0, 10],
      [100, 0, 10],
    ],
    [
      [20, 0, 10],
      [100, 40, 10],
    ],
    [
      [20, 0, 30],
      [100, 40, 10],
    ],
  ],
  links: [[[0, 1, 0.5]], [], [[0, 1, 1]]],
  ways: [],
  charts: [],
  low: [0, 0, 10],
  high: [100, 40, 30],
};

test("a satellite between two knots is on the arc between them, at its height", () => {
  const at = reader(sky());
  const { places } = at(5);
  expect(Math.hypot(...places)).toBeCloseTo(RADIUS, 0);
  expect(places[0]).toBeCloseTo(RADIUS * Math.SQRT1_2, 0);
  expect(places[1]).toBeCloseTo(RADIUS * Math.SQRT1_2, 0);
  expect([...at(20).places].map((one) => Math.round(one))).toEqual([0, 0, RADIUS]);
  expect([...at(99).places]).toEqual([...at(20).places]);
});

test("a link between satellites is up from its first knot until before its last", () => {
  const at = reader(sky());
  expect(at(9.9).links).toEqual([[0, 0, 1]]);
  expect(at(10).links).toEqual([]);
});

test("nodes move in straight lines between frames and are still before and after them", () => {
  const at = reader(FLIGHT);
  expect([...at(6).places]).toEqual([10, 0, 10, 100, 20, 10]);
  expect([...at(0).places]).toEqual([0, 0, 10, 100, 0, 10]);
  expect([...at(50).places]).toEqual([20, 0, 30, 100, 40, 10]);
  expect([at(6.9).links, at(7).links, at(9).links]).toEqual([[[0, 1, 0.5]], [], [[0, 1, 1]]]);
});

test("the value at a time is the nearest sample, and missing if that sample is unknown", () => {
  expect([0, 4, 6, 10, 99].map((time) => sampleAt([1, null, 3], time, 10))).toEqual([1, null, null, 3, 3]);
});
