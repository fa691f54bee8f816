/** The keyboard focus of the page. */

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Moves the focus to the content, as a browser does when it opens a page. */
export function focusContent(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/**
 * Moves the focus to a nearby element when the focused one is removed. The browser would move it to the start of the
 * page.
 */
export function keepFocus(): () => void {
  let last: Element | undefined;
  /** Ancestors of the focused element, innermost first; stored because an element has none after its removal. */
  let around: Element[] = [];
  const note = ({ target }: FocusEvent) => {
    if (target instanceof Element) {
      last = target;
      around = [];
      for (let outer = target.parentElement; outer; outer = outer.parentElement) {
        around.push(outer);
      }
    }
  };
  const watch = new MutationObserver(() => {
    if (last && !last.isConnected) {
      last = undefined;
      if (document.activeElement === document.body) {
        nearest(around)?.focus({ preventScroll: true });
      }
    }
  });
  document.addEventListener("focusin", note);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("focusin", note);
    watch.disconnect();
  };
}

/** Returns the first focusable element inside the innermost element of `around` that still exists, or the content. */
function nearest(around: Element[]): HTMLElement | undefined {
  for (const outer of around.filter(({ isConnected }) => isConnected)) {
    if (outer instanceof HTMLElement && outer.id === "main") {
      return outer;
    }
    const found = [...outer.querySelectorAll<HTMLElement>(FOCUSABLE)].find(
      (one) => one.tabIndex >= 0 && !one.matches(":disabled") && one.checkVisibility(),
    );
    if (found) {
      return found;
    }
  }
  return undefined;
}
