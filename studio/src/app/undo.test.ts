import { beforeEach, expect, test } from "vitest";
import { files, take, toml } from "./state.ts";
import { canRedo, canUndo, keepHistory, redo, undo } from "./undo.ts";

let time = 0;
let end = () => {};

beforeEach(() => {
  end();
  take("one");
  time += 10_000;
  end = keepHistory(() => time);
  while (canUndo.value) {
    undo();
  }
  take("one");
  time += 10_000;
});

test("changes that are apart are taken back one by one, and done again", () => {
  for (const text of ["two", "three"]) {
    toml.value = text;
    time += 1_000;
  }
  undo();
  expect(toml.value).toBe("two");
  undo();
  expect(toml.value).toBe("one");
  redo();
  redo();
  expect(toml.value).toBe("three");
  expect(canRedo.value).toBe(false);
});

test("typing is one change", () => {
  for (const text of ["o", "on", "once"]) {
    toml.value = text;
    time += 100;
  }
  undo();
  expect(toml.value).toBe("one");
});

test("another scenario brings its files back with it", () => {
  take("two", { "a.csv": "AA==" });
  expect(files.value).toEqual({ "a.csv": "AA==" });
  undo();
  expect([toml.value, files.value]).toEqual(["one", {}]);
});

test("a change after an undo leaves nothing to do again", () => {
  toml.value = "two";
  undo();
  time += 1_000;
  toml.value = "three";
  expect(canRedo.value).toBe(false);
});
