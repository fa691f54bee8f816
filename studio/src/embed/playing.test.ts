import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { firstPaths, Playing } from "./playing.ts";
import type { FlightRecording } from "./recording.ts";

const FLIGHT: FlightRecording = {
  kind: "flight",
  title: "",
  note: "",
  from: 2,
  until: 3.5,
  times: [2, 2.5, 3, 3.5],
  nodes: ["a"],
  places: [[[0, 0, 0]], [[1, 0, 0]], [[2, 0, 0]], [[3, 0, 0]]],
  links: [[], [], [], []],
  ways: [],
  charts: [],
  low: [0, 0, 0],
  high: [3, 0, 0],
};

let frames: ((wall: number) => void)[] = [];

beforeEach(() => {
  frames = [];
  vi.stubGlobal("requestAnimationFrame", (next: (wall: number) => void) => frames.push(next));
  vi.stubGlobal("cancelAnimationFrame", () => {
    frames = [];
  });
  vi.spyOn(performance, "now").mockReturnValue(0);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("keys step from frame to frame, jump to the ends and stay within them", () => {
  const playing = new Playing(FLIGHT);
  const after = (key: string) => {
    expect(playing.key(key)).toBe(true);
    return playing.now.value;
  };
  expect([".", ".", ",", "Home", ",", "End", "."].map(after)).toEqual([2.5, 3, 2.5, 2, 2, 3.5, 3.5]);
  expect(playing.key("x")).toBe(false);
});

test("it plays at its speed, ends at the end, and plays from the start again", () => {
  const playing = new Playing(FLIGHT);
  playing.speed.value = 5;
  playing.key(" ");
  frames.shift()?.(100);
  expect([playing.isPlaying.value, playing.now.value]).toEqual([true, 2.5]);
  frames.shift()?.(1000);
  expect([playing.isPlaying.value, playing.now.value]).toEqual([false, 3.5]);
  expect(frames).toEqual([]);
  playing.toggle();
  expect([playing.isPlaying.value, playing.now.value]).toEqual([true, 2]);
  playing.step(1);
  expect([playing.isPlaying.value, playing.now.value]).toEqual([false, 2.5]);
});

test("less than and greater than change the speed, within its limits", () => {
  const playing = new Playing(FLIGHT);
  const after = (key: string) => {
    expect(playing.key(key)).toBe(true);
    return playing.speed.value;
  };
  expect(["<", "<", ">", ">", ">", ">", ">"].map(after)).toEqual([0.2, 0.2, 1, 5, 20, 100, 100]);
});

test("a flight opens when most paths are known, but not after its middle", () => {
  const way = (...from: number[]) => ({ name: "", courses: from.map((time) => [time, [0, 1]] as [number, number[]]) });
  expect(firstPaths({ from: 2, until: 12, ways: [] })).toBe(2);
  expect(firstPaths({ from: 2, until: 12, ways: [way(3), way(4, 9), way()] })).toBe(4);
  expect(firstPaths({ from: 2, until: 12, ways: [way(11)] })).toBe(7);
});
