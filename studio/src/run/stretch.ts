/** The part of a space-time diagram that is in view. */

export interface View {
  from_s: number;
  to_s: number;
}

/** Returns the view `factor` times as long around a fixed time, within `whole`. */
export function zoomed({ from_s, to_s }: View, around: number, factor: number, whole: View): View {
  const length = lengthOf((to_s - from_s) * factor, whole);
  const part = (around - from_s) / (to_s - from_s);
  return held({ from_s: around - part * length, to_s: around + (1 - part) * length }, whole);
}

/** Returns the view moved by seconds, within `whole`. */
export function panned({ from_s, to_s }: View, by: number, whole: View): View {
  return held({ from_s: from_s + by, to_s: to_s + by }, whole);
}

/** Clamps a length to the minimum and to the length of `whole`. */
function lengthOf(length: number, whole: View): number {
  const all = whole.to_s - whole.from_s;
  return Math.min(all, Math.max(all / 10_000, length));
}

/** Returns the view shifted, and shortened if necessary, so that it lies within `whole`. */
export function held(view: View, whole: View): View {
  const middle = (view.from_s + view.to_s) / 2;
  const half = lengthOf(view.to_s - view.from_s, whole) / 2;
  const [from_s, to_s] = [middle - half, middle + half];
  const by = Math.max(0, whole.from_s - from_s) - Math.max(0, to_s - whole.to_s);
  return { from_s: Math.max(whole.from_s, from_s + by), to_s: Math.min(whole.to_s, to_s + by) };
}

/** Returns round times for an axis. */
export function ticks({ from_s, to_s }: View, count: number): number[] {
  const rough = (to_s - from_s) / Math.max(1, count);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * ([1, 2, 5, 10].find((factor) => factor * ten >= rough * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(from_s / step);
  return Array.from({ length: Math.max(0, Math.floor(to_s / step) - first + 1) }, (_, index) => (first + index) * step);
}
