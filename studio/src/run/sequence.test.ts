import fc from "fast-check";
import { expect, test } from "vitest";
import { Sequences } from "./sequence.ts";

const WRAP = 2 ** 32;
const acked = (bytes: number, leg = 1, time = 0) => ({
  rows: 1,
  columns: {
    time_s: { values: Float64Array.of(time) },
    flow: { values: Float64Array.of(0) },
    leg: { values: Float64Array.of(leg) },
    acked_bytes: { values: Float64Array.of(bytes) },
  },
});

test("numbers continue beyond 32 bits, separately per flow and direction", () => {
  const numbers = new Sequences();
  expect([0xfffffff0, 0x10, 0xfffffff0].map((value) => numbers.unwrapped(0, "forward", value))).toEqual([
    0xfffffff0,
    WRAP + 0x10,
    0xfffffff0,
  ]);
  expect(numbers.unwrapped(0, "backward", 0x10)).toBe(0x10);
  expect(numbers.unwrapped(1, "forward", 0x10)).toBe(0x10);
});

test("numbers of a late window are near the data acknowledged by then", () => {
  const numbers = new Sequences();
  numbers.first.set(0, 1000);
  numbers.note(acked(3 * WRAP + 500));
  numbers.note(acked(7, 2));
  numbers.note(acked(9 * WRAP, 1, 5), 4);
  expect(numbers.unwrapped(0, "forward", 1500)).toBe(3 * WRAP + 1500);
});

test("a stream of any length is counted, with any steps below 2 GB", () => {
  const step = fc.integer({ min: -1000, max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: WRAP - 1 }), fc.array(step, { maxLength: 50 }), (first, steps) => {
      const numbers = new Sequences();
      let exact = first;
      expect(numbers.unwrapped(0, "forward", first)).toBe(first);
      for (const by of steps) {
        exact += by;
        expect(numbers.unwrapped(0, "forward", ((exact % WRAP) + WRAP) % WRAP)).toBe(exact);
      }
    }),
  );
});
