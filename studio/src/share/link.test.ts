import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLink, MOST_CHARACTERS, read, type Shared, toBase64Url, written } from "./link.ts";

const link = (text: string) => `#a.${toBase64Url(deflateRawSync(Buffer.from(text)))}`;

describe("links", () => {
  const text = fc.string({ unit: "grapheme" });
  const shared = fc.record(
    {
      toml: text,
      files: fc.dictionary(
        fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
        fc.base64String(),
      ),
      seed: fc.maxSafeNat(),
      view: fc.constantFrom("scenario", "compare"),
      variants: fc.array(fc.record({ name: text, sets: fc.array(fc.tuple(text, text), { maxLength: 4 }) }), {
        maxLength: 6,
      }),
      seeds: fc.integer({ min: 1, max: 200 }),
    },
    { requiredKeys: ["toml"], noNullPrototype: true },
  );

  test("a written link is read back", async () => {
    await fc.assert(
      fc.asyncProperty(shared, async (given) => {
        const fragment = await written(given as Shared);
        expect(fragment).toMatch(/^#a\.[A-Za-z0-9_-]+$/);
        expect(isLink(fragment)).toBe(true);
        expect(await read(fragment)).toEqual(given);
      }),
    );
  });

  test("a damaged link gives one clear error, or a scenario", async () => {
    const whole = await written({ toml: 'name = "x"\nduration = "10 s"\n' });
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 4), fc.constantFrom("A", "-", "%", "ä", ""), async (at, letter) => {
        const place = 3 + at;
        const damaged = letter ? whole.slice(0, place) + letter + whole.slice(place + 1) : whole.slice(0, place);
        const found = await read(damaged).catch((error: Error) => error);
        if (found instanceof Error) {
          expect(found.name).toBe("LinkError");
        } else {
          expect(typeof found.toml).toBe("string");
        }
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ["", "has no scenario"],
    ["#main", "has no scenario"],
    ["#b.AAAA", 'has version "b"'],
    ["#a.", "damaged or truncated"],
    ["#a.****", "invalid characters"],
    ["#a.A", "damaged or truncated"],
    [link("no JSON"), "its text cannot be decoded"],
    [link("[]"), "has no scenario"],
    [link("{}"), "has no scenario"],
    [link('{"toml": 7}'), "toml is 7"],
    [link('{"toml": "", "files": {"a": 1}}'), 'files is {"a":1}'],
    [link('{"toml": "", "seed": -1}'), "seed is -1"],
    [link('{"toml": "", "seed": 0.5}'), "seed is 0.5"],
    [link('{"toml": "", "variants": [{"name": "a", "sets": [["k"]]}]}'), "variants is"],
    [link('{"toml": "", "seeds": 100000}'), "seeds is 100000"],
  ])("%s is rejected", async (fragment, message) => {
    await expect(read(fragment)).rejects.toThrow(message);
  });

  test("a link that is too long, or unpacks to too many bytes, is rejected", async () => {
    await expect(read(`#a.${"A".repeat(MOST_CHARACTERS)}`)).rejects.toThrow("the maximum is 2,000,000");
    const bomb = link(JSON.stringify({ toml: " ".repeat(12_000_000) }));
    expect(bomb.length).toBeLessThan(MOST_CHARACTERS);
    await expect(read(bomb)).rejects.toThrow("more than 10 MB");
  });

  test("keys of later versions are left out", async () => {
    expect(await read(link('{"toml": "x", "mood": "good", "seed": 3}'))).toEqual({ toml: "x", seed: 3 });
  });
});
