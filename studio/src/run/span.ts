/** The time that all charts show: all of the run, or a part of it. */

import { signal } from "@preact/signals";

export interface Span {
  from_s: number;
  to_s: number;
}

/** The part that is shown; undefined: all of it. */
export const zoom = signal<Span | undefined>(undefined);

/** The time under the pointer. */
export const cursor = signal<number | undefined>(undefined);

/** Minimum span, in seconds. */
const SHORTEST = 1e-6;

/**
 * Returns an end of an axis that does not move with every frame: the next of 1, 1.5, 2, 3, 5, 7 times a power of
 * ten.
 */
export function axisEnd(now_s: number, end_s: number): number {
  if (!(now_s > 0)) {
    return Math.min(1, end_s || 1);
  }
  const power = 10 ** Math.floor(Math.log10(now_s));
  const next = [1, 1.5, 2, 3, 5, 7, 10].find((step) => step * power >= now_s) ?? 10;
  return Math.min(next * power, end_s || next * power);
}

/** Clamps a span to the time from 0 to the end of the run; undefined if it is the entire time. */
export function within(span: Span, end_s: number): Span | undefined {
  const length = Math.max(span.to_s - span.from_s, SHORTEST);
  if (length >= end_s * 0.999) {
    return undefined;
  }
  const from_s = Math.min(Math.max(span.from_s, 0), end_s - length);
  return { from_s, to_s: from_s + length };
}

/** Returns the span scaled by a factor; the time `around` stays at the same position. */
export function scaled({ from_s, to_s }: Span, factor: number, around: number): Span {
  return { from_s: around - (around - from_s) * factor, to_s: around + (to_s - around) * factor };
}

/** Returns the span after a key was pressed; null if the key has no meaning here. */
export function afterKey(key: string, now: Span, end_s: number): Span | undefined | null {
  const middle = (now.from_s + now.to_s) / 2;
  const length = now.to_s - now.from_s;
  switch (key) {
    case "+":
    case "=":
      return within(scaled(now, 0.5, middle), end_s);
    case "-":
      return within(scaled(now, 2, middle), end_s);
    case "ArrowLeft":
      return within({ from_s: now.from_s - 0.2 * length, to_s: now.to_s - 0.2 * length }, end_s);
    case "ArrowRight":
      return within({ from_s: now.from_s + 0.2 * length, to_s: now.to_s + 0.2 * length }, end_s);
    case "0":
      return undefined;
    default:
      return null;
  }
}
