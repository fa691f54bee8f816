import { expect, test } from "vitest";
import { presets, sentence } from "./presets.ts";

test("each scenario of lightlag is a preset with a sentence", () => {
  expect(presets.length).toBeGreaterThan(20);
  for (const { name, says, toml } of presets) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(says.length, name).toBeGreaterThan(30);
    expect(says, name).not.toMatch(/^Shows|#/);
    expect(toml, name).toContain("duration");
  }
});

test("the sentence ends with the first paragraph", () => {
  expect(sentence("# Shows: that hops share\n# a channel.\n#\n#   lightlag run x\nname = 1\n")).toBe(
    "That hops share a channel.",
  );
  expect(sentence("name = 1\n")).toBe("");
});
