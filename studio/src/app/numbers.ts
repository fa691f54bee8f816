/** Numbers as text, as the engine writes them for all of lightlag. */

import { analysed } from "../engine/analysis.ts";

function text(as: string, value: number, digits?: number): string {
  return analysed({ text: { as, value, digits } });
}

/** With so many digits after the point. */
export function fixed(value: number, digits: number): string {
  return text("fixed", value, digits);
}

/** With commas between thousands. */
export function grouped(value: number, digits = 0): string {
  return text("grouped", value, digits);
}

/** With so many significant digits, without zeros at the end; as a power of ten where it is large or small. */
export function general(value: number, digits: number): string {
  return text("general", value, digits);
}

/** With so many significant digits and no exponent; large ones as whole numbers. */
export function number(value: number, digits = 4): string {
  return text("number", value, digits);
}

/** A power of 1000 that makes a number short, and its prefix. */
export function factorOf(value: number): [factor: number, prefix: string] {
  return analysed({ factor: value });
}

/** A rate in bit/s. */
export function rate(bitsPerSecond: number): string {
  return text("rate", bitsPerSecond);
}

/** A size in bytes. */
export function size(bytes: number): string {
  return text("size", bytes);
}
