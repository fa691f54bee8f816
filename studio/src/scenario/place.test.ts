import { expect, test } from "vitest";
import { placeAt } from "./place.ts";

/** Returns the context of the mark `|` in a text. */
function at(text: string) {
  const place = placeAt(text.replace("|", ""), text.indexOf("|"));
  return place && { path: place.path, due: place.due, word: text.slice(place.from, text.indexOf("|")) };
}

test.each([
  ["|", [], "key", ""],
  ["dur|", [], "key", "dur"],
  ['name = "a"\ndur|', [], "key", "dur"],
  ["duration = |", ["duration"], "value", ""],
  ['duration = "1|', ["duration"], "value", '"1'],
  ["[[links]]\nra|", ["links", 0], "key", "ra"],
  ["[[links]]\n[[links]]\nrate = |", ["links", 1, "rate"], "value", ""],
  ["[[links]]\nrate = { fo|", ["links", 0, "rate"], "key", "fo"],
  ["[[links]]\nrate = { forward = |", ["links", 0, "rate", "forward"], "value", ""],
  ['[[links]]\nrate = { forward = "1 Mbit/s", ba|', ["links", 0, "rate"], "key", "ba"],
  ['[[links]]\nbetween = ["a", |', ["links", 0, "between", 1], "value", ""],
  ['[[links]]\nchanges = [ # some\n  { at = "1 s" },\n  { do|', ["links", 0, "changes", 1], "key", "do"],
  ["[defaults.tcp]\ncongestion = |", ["defaults", "tcp", "congestion"], "value", ""],
  ["[defaults]\ntcp.cong|", ["defaults"], "key", "tcp.cong"],
  ["[[links]]\nloss = 1e-4\n[[fl|", [], "header", "fl"],
  ["[def|", [], "header", "def"],
  ['[[flows]]\nfrom = "a" # why\nt|', ["flows", 0], "key", "t"],
  ["sack = tr|", ["sack"], "value", "tr"],
])("%s", (text, path, due, word) => {
  expect(at(text)).toEqual({ path, due, word });
});

test("a comment has no context", () => {
  expect(at("# dur|")).toBeUndefined();
  expect(at('name = "a" # x|')).toBeUndefined();
});
