/**
 * A group of buttons that is a single tab stop: arrow keys, Home and End move between the buttons (WAI-ARIA APG,
 * toolbar).
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A group of buttons. Tab reaches one of them: the pressed one, or the one that had the focus last, or the first. */
export function Roving({ label, children }: { label: string; children: ComponentChildren }) {
  const host = useRef<HTMLDivElement>(null);
  const last = useRef<Element | undefined>(undefined);
  const settle = () => {
    const all = buttonsIn(host.current);
    const pressed = all.find((one) => one.getAttribute("aria-pressed") === "true");
    const stop =
      all.find((one) => one === document.activeElement) ?? pressed ?? all.find((one) => one === last.current);
    for (const one of all) {
      one.tabIndex = one === (stop ?? all[0]) ? 0 : -1;
    }
  };
  useEffect(settle);
  return (
    <div
      ref={host}
      role="toolbar"
      aria-label={label}
      onFocusIn={({ target }) => {
        last.current = target instanceof Element ? target : undefined;
        settle();
      }}
      onFocusOut={() => queueMicrotask(settle)}
      onKeyDown={(event) => {
        const all = buttonsIn(host.current);
        const now = all.indexOf(document.activeElement as HTMLButtonElement);
        const next = now < 0 || event.ctrlKey || event.altKey || event.metaKey ? undefined : after(event.key, all, now);
        if (next) {
          event.preventDefault();
          next.focus();
        }
      }}
    >
      {children}
    </div>
  );
}

function buttonsIn(host: HTMLElement | null): HTMLButtonElement[] {
  return [...(host?.querySelectorAll<HTMLButtonElement>("button:not(:disabled)") ?? [])];
}

/**
 * Returns the button that a key moves the focus to; undefined for other keys, and if there is none in that direction.
 */
function after(key: string, all: HTMLButtonElement[], now: number): HTMLButtonElement | undefined {
  switch (key) {
    case "ArrowRight":
      return all[now + 1];
    case "ArrowLeft":
      return all[now - 1];
    case "Home":
      return all[0];
    case "End":
      return all.at(-1);
    case "ArrowDown":
    case "ArrowUp":
      return inNextRow(all, now, key === "ArrowDown" ? 1 : -1);
    default:
      return undefined;
  }
}

/** Returns the button of the next row below (1) or above (-1) that is nearest to the focused one. */
function inNextRow(all: HTMLButtonElement[], now: number, side: 1 | -1): HTMLButtonElement | undefined {
  const boxes = all.map((one) => one.getBoundingClientRect());
  const own = boxes[now] as DOMRect;
  const isBeyond = ({ top, bottom }: DOMRect) => (side > 0 ? top >= own.bottom : bottom <= own.top);
  const far = ({ top, left }: DOMRect) => 1e4 * Math.abs(top - own.top) + Math.abs(left - own.left);
  const beyond = all.map((one, at) => ({ one, box: boxes[at] as DOMRect })).filter(({ box }) => isBeyond(box));
  return beyond.sort((a, b) => far(a.box) - far(b.box))[0]?.one;
}
