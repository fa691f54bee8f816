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

test("separate changes are undone and redone one by one", () => {
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

test("undo to another scenario restores its files", () => {
  take("two", { "a.csv": "AA==" });
  expect(files.value).toEqual({ "a.csv": "AA==" });
  undo();
  expect([toml.value, files.value]).toEqual(["one", {}]);
});

test("a change after an undo leaves nothing to redo", () => {
  toml.value = "two";
  undo();
  time += 1_000;
  toml.value = "three";
  expect(canRedo.value).toBe(false);
});
