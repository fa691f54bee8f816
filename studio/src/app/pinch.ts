/** Two fingers on a picture over time: the times below them stay below them. One finger scrolls the page. */

export interface Span {
  from_s: number;
  to_s: number;
}

export interface Pinched {
  /** The span that is shown. */
  now(): Span;
  /** The time at a place of the window, in the span that is shown. */
  time(clientX: number): number;
  show(span: Span): void;
  /** Two fingers are down. */
  start?(): void;
}

/** The least distance of two fingers that stretch the picture, as a part of it; closer ones only move it. */
const LEAST = 0.04;

type Pair = [number, number];

/** The span in which two times lie at two parts of it: 0 is its start, 1 its end. Parts that lie close only move it. */
export function stretched({ from_s, to_s }: Span, times: Pair, parts: Pair): Span {
  const apart = parts[1] - parts[0];
  const isStretched = Math.abs(apart) >= LEAST && (times[1] - times[0]) * apart > 0;
  const length = isStretched ? (times[1] - times[0]) / apart : to_s - from_s;
  const start = (times[0] + times[1]) / 2 - ((parts[0] + parts[1]) / 2) * length;
  return { from_s: start, to_s: start + length };
}

/**
 * Lets two fingers zoom and move a picture. These are touch events, not pointer events: only they can keep the page from
 * scrolling once the second finger is down.
 *
 * @returns what ends it
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
