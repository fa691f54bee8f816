import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Playing } from "./playing.ts";
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
