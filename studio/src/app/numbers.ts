/** Numbers as text. The engine formats them, as everywhere in lightlag. */

import { analysed } from "../engine/analysis.ts";

function text(as: string, value: number, digits?: number): string {
  return analysed({ text: { as, value, digits } });
}

/** Formats a number with the given number of digits after the point. */
export function fixed(value: number, digits: number): string {
  return text("fixed", value, digits);
}

/** Formats a number with commas between thousands. */
export function grouped(value: number, digits = 0): string {
  return text("grouped", value, digits);
}

/**
 * Formats a number with the given number of significant digits, without zeros at the end; as a power of ten if it
 * is large or small.
 */
export function general(value: number, digits: number): string {
  return text("general", value, digits);
}

/** Formats a number with the given number of significant digits and no exponent; large ones as integers. */
export function number(value: number, digits = 4): string {
  return text("number", value, digits);
}

/** Returns the power of 1000 by which a number is divided so that it is short, and the SI prefix of this power. */
export function factorOf(value: number): [factor: number, prefix: string] {
  return analysed({ factor: value });
}

/** Formats a rate in bit/s. */
export function rate(bitsPerSecond: number): string {
  return text("rate", bitsPerSecond);
}

/** Formats a size in bytes. */
export function size(bytes: number): string {
  return text("size", bytes);
}
