import { expect, test } from "vitest";
import type { Entry } from "./api.ts";
import { arranged, seedsOf } from "./table.ts";

const ENTRIES: Entry[] = [
  { place: "0/geo-10", kind: "run", name: "geo-10", scenario: "geo", date: "2026-01-03", hash: "aa11" },
  { place: "0/geo-2", kind: "run", name: "geo-2", scenario: "geo", date: "2026-01-01", hash: "bb22" },
  { place: "1/mars", kind: "scenario", name: "mars.toml", scenario: "mars", date: "2026-01-02", hash: null },
];

function names(words: string, kind: string, by: Parameters<typeof arranged>[3], isDown = false): string[] {
  return arranged(ENTRIES, words, kind, by, isDown).map(({ name }) => name);
}

test("numbers in names are sorted as numbers, in both directions", () => {
  expect(names("", "", "name")).toEqual(["geo-2", "geo-10", "mars.toml"]);
  expect(names("", "", "name", true)).toEqual(["mars.toml", "geo-10", "geo-2"]);
});

test("the latest comes first by date", () => {
  expect(names("", "", "date", true)).toEqual(["geo-10", "mars.toml", "geo-2"]);
});

test("an entry must contain every term of the filter", () => {
  expect(names("GEO bb2", "", "name")).toEqual(["geo-2"]);
  expect(names("geo mars", "", "name")).toEqual([]);
});

test("a kind selects its own entries", () => {
  expect(names("", "scenario", "name")).toEqual(["mars.toml"]);
});

test("seeds are numbers and ranges, each once", () => {
  expect(seedsOf("1-3, 9 2")).toEqual([1, 2, 3, 9]);
  expect(seedsOf("")).toEqual([]);
});

test.each([
  ["x", '"x" is not a seed'],
  ["-1", '"-1" is not a seed'],
  ["5-1", '"5-1" is not a seed'],
  ["1.5", '"1.5" is not a seed'],
  ["1-1001", "more than 1000 seeds"],
])("%j is rejected as seeds", (text, said) => {
  expect(seedsOf(text)).toContain(said);
});
