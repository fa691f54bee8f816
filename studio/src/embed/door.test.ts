import { expect, test } from "vitest";
import { Ways } from "../app/ways.ts";
import { pathsOf, RecordedDoor } from "./door.ts";
import type { FlightRecording } from "./recording.ts";

const FLIGHT: FlightRecording = {
  kind: "flight",
  title: "",
  note: "",
  from: 0,
  until: 4,
  times: [0, 4],
  nodes: ["a", "b", "c"],
  places: [
    [
      [3, -12, 20],
      [290, 5, 20],
      [7, 410, 55],
    ],
    [
      [3, -12, 20],
      [290, 5, 20],
      [7, 410, 55],
    ],
  ],
  links: [[[0, 1, 0.25]], []],
  ways: [
    {
      name: "a->c",
      courses: [
        [0.5, [0, 1, 2]],
        [3, [0, 2]],
      ],
    },
  ],
  charts: [],
  low: [3, -12, 20],
  high: [290, 410, 55],
};

test("a recorded flight replies as an engine does", async () => {
  const door = new RecordedDoor(FLIGHT);
  const flight = await door.ask({ op: "flight", toml: "", files: {} });
  expect(flight.nodes).toEqual(["a", "b", "c"]);
  expect(flight.extent).toEqual({ least: [0, -100, 0], most: [300, 500, 60] });
  const { tables } = await door.ask({ op: "places_at", place: 0, time_s: 2 });
  expect([...(tables.places?.columns.y?.values ?? [])]).toEqual([-12, 5, 410]);
  expect(tables.isls?.rows).toBe(1);
  expect(tables.isls?.columns.strength?.values[0]).toBe(0.25);
});

test("requests that a recording does not support are rejected", async () => {
  const door = new RecordedDoor(FLIGHT);
  await expect(door.ask({ op: "about" })).rejects.toThrow('a recording does not support "about"');
});

test("recorded paths equal the paths that a run reports", () => {
  const ways = new Ways();
  ways.add(pathsOf(FLIGHT));
  const at = (time: number) => ways.at(time).get(0)?.nodes;
  expect([at(0), at(0.5), at(2.9), at(3)]).toEqual([undefined, [0, 1, 2], [0, 1, 2], [0, 2]]);
});
