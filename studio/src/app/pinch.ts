/** Zooming of a chart with two fingers: the times under the fingers stay under them. One finger scrolls the page. */

export interface Span {
  from_s: number;
  to_s: number;
}

export interface Pinched {
  /** Returns the span that is shown. */
  now(): Span;
  /** Returns the time at a position of the window, in the span that is shown. */
  time(clientX: number): number;
  show(span: Span): void;
  /** Called when two fingers are down. */
  start?(): void;
}

/**
 * Minimum distance between two fingers that zoom, as a fraction of the chart's width; closer fingers only move the
 * chart.
 */
const LEAST = 0.04;

type Pair = [number, number];

/**
 * Returns the span in which `times` are at the fractions `parts` of its length: 0 is its start, 1 its end. If the
 * fractions are close to each other, the span is only moved.
 */
export function stretched({ from_s, to_s }: Span, times: Pair, parts: Pair): Span {
  const apart = parts[1] - parts[0];
  const isStretched = Math.abs(apart) >= LEAST && (times[1] - times[0]) * apart > 0;
  const length = isStretched ? (times[1] - times[0]) / apart : to_s - from_s;
  const start = (times[0] + times[1]) / 2 - ((parts[0] + parts[1]) / 2) * length;
  return { from_s: start, to_s: start + length };
}

/**
 * Lets two fingers zoom and move a chart. These are touch events, not pointer events: only they can keep the page from
 * scrolling once the second finger is down.
 *
 * @returns a function that ends it
 */
export function pinch(host: HTMLElement, picture: Pinched): () => void {
  let held: Pair | undefined;
  const places = ({ touches }: TouchEvent): Pair | undefined => {
    const [one, other] = touches;
    return one && other && touches.length === 2 ? [one.clientX, other.clientX] : undefined;
  };
  const start = (event: TouchEvent) => {
    const at = places(event);
    held = at && event.cancelable ? [picture.time(at[0]), picture.time(at[1])] : undefined;
    if (held) {
      event.preventDefault();
      picture.start?.();
    }
  };
  const move = (event: TouchEvent) => {
    const at = places(event);
    if (!held || !at) {
      return;
    }
    event.preventDefault();
    const now = picture.now();
    const part = (x: number) => (picture.time(x) - now.from_s) / (now.to_s - now.from_s);
    picture.show(stretched(now, held, [part(at[0]), part(at[1])]));
  };
  const end = (event: TouchEvent) => {
    held = undefined;
    if (event.touches.length === 2) {
      start(event);
    }
  };
  const listeners = { touchstart: start, touchmove: move, touchend: end, touchcancel: end };
  for (const [name, listener] of Object.entries(listeners)) {
    host.addEventListener(name, listener as EventListener, { passive: false });
  }
  return () => {
    for (const [name, listener] of Object.entries(listeners)) {
      host.removeEventListener(name, listener as EventListener);
    }
  };
}
