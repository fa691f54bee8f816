import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { amount, inUnits, position, quantity, type Scale, STEPS, scaleOf, turned } from "./units.ts";

const scales: [string, unknown][] = [
  ["Rate", "20 Mbit/s"],
  ["Duration", "1.28 s"],
  ["Probability", 1e-4],
  ["QueueLimit", "1000 packets"],
  ["QueueLimit", "1 bdp"],
  ["QueueLimit", "64 kB"],
];

function scale(type: string, value: unknown): Scale {
  const found = scaleOf(type, value);
  expect(found, type).toBeDefined();
  return found as Scale;
}

describe.each(scales)("%s of %s", (type, value) => {
  test("a value is preserved on the slider to two digits", () => {
    const on = scale(type, value);
    fc.assert(
      fc.property(fc.integer({ min: on.hasZero ? 0 : 1, max: STEPS }), (at) => {
        const exact = quantity(on, at);
        const written = amount(on, inUnits(on, exact)) ?? Number.NaN;
        expect(Math.abs(written - exact)).toBeLessThanOrEqual(Math.max(exact * 0.051, on.isWhole ? 0.5 : 0));
      }),
      { seed: 3 },
    );
  });

  test("each step of the slider changes the value, and steps cover the entire range", () => {
    const on = scale(type, value);
    let now: string | number = inUnits(on, on.hasZero ? 0 : on.least);
    for (let turns = 0; turns < 2 * STEPS; turns++) {
      const at = position(on, amount(on, now) ?? 0);
      if (at >= STEPS) {
        break;
      }
      const next = turned(on, now, at + 1);
      expect(amount(on, next)).toBeGreaterThan(amount(on, now) ?? Number.NaN);
      now = next;
    }
    expect(amount(on, now)).toBeCloseTo(on.most, -Math.log10(on.most) + 1);
  });
});

test("suitable units", () => {
  expect(inUnits(scale("Rate", ""), 20e6)).toBe("20 Mbit/s");
  expect(inUnits(scale("Duration", ""), 0.296)).toBe("300 ms");
  expect(inUnits(scale("Duration", ""), 0)).toBe("0 s");
  expect(inUnits(scale("QueueLimit", "1 packets"), 1.4)).toBe("1 packets");
  expect(inUnits(scale("Probability", 0), 0)).toBe(0);
});

test("a text that is not a quantity has no slider position", () => {
  expect(amount(scale("Rate", ""), "fast")).toBeUndefined();
  expect(amount(scale("Rate", ""), "10 miles")).toBeUndefined();
  expect(scaleOf("Bytes", "1 kB")).toBeUndefined();
});
