import fc from "fast-check";
import { expect, test } from "vitest";
import { queryOf, setsOf, wishOf } from "./parameters.ts";

test("changes are separated by semicolons or new lines", () => {
  expect(setsOf('links.1.loss=1e-3; defaults.tcp.congestion = bbr\n\nlinks.0.queue = "1 bdp"')).toEqual([
    ["links.1.loss", "1e-3"],
    ["defaults.tcp.congestion", "bbr"],
    ["links.0.queue", '"1 bdp"'],
  ]);
  expect(setsOf("duration")).toEqual([["duration", ""]]);
});

test("parameters are unchanged by a round trip through an address", () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9_.&+%ä-]{0,12}$/);
  fc.assert(
    fc.property(
      fc.record(
        {
          scenario: word,
          sets: fc.array(fc.tuple(word, word), { maxLength: 3 }),
          seed: fc.nat(),
          isAtOnce: fc.boolean(),
        },
        { requiredKeys: ["sets", "isAtOnce"], noNullPrototype: true },
      ),
      (wish) => {
        expect(wishOf(queryOf(wish))).toEqual(wish);
      },
    ),
  );
  expect(wishOf("seed=-1")).toEqual({ sets: [], isAtOnce: false });
});
