import { expect, test } from "vitest";
import { fixed, general, grouped, listed, milliseconds, percent, rate, size } from "./numbers.ts";

test("halves go to the even neighbour", () => {
  expect([0.5, 1.5, 2.5, 3.5].map((value) => fixed(value, 0))).toEqual(["0", "2", "2", "4"]);
  expect([fixed(0.125, 2), fixed(0.375, 2), fixed(2.675, 2), fixed(-2.5, 0)]).toEqual(["0.12", "0.38", "2.67", "-2"]);
  expect([general(0.5, 1), general(2.5, 1), general(12345, 4), general(12355, 4)]).toEqual([
    "0.5",
    "2",
    "1.234e+04",
    "1.236e+04",
  ]);
});

test("numbers have as many digits as Python gives them", () => {
  expect([1, 999.96, 0.00012345, 0.000012345, 1e16, 0].map((value) => general(value, 4))).toEqual([
    "1",
    "1000",
    "0.0001234",
    "1.234e-05",
    "1e+16",
    "0",
  ]);
  expect([grouped(1234567.5), grouped(999), grouped(-1234)]).toEqual(["1,234,568", "999", "-1,234"]);
});

test("rates, sizes, times and shares have units", () => {
  expect([rate(9_412_345), size(20_000_000), rate(0), rate(999_960)]).toEqual([
    "9.412 Mbit/s",
    "20 MB",
    "0 bit/s",
    "1 Mbit/s",
  ]);
  expect([milliseconds(0.0252), percent(0.125), percent(0.1234567, 2)]).toEqual(["25.2 ms", "12%", "12.35%"]);
});

test("parts have commas and a word", () => {
  expect([listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])]).toEqual(["a", "a and b", "a, b and c"]);
});
