/** Announcements for users who do not see the page change. */

import { signal } from "@preact/signals";

const told = signal("");

/** Lets a screen reader announce a sentence once, after the current one. */
export function tell(sentence: string): void {
  told.value = sentence;
}

/** The live region of announcements. It always exists: a region that is inserted with its text is not announced. */
export function Told() {
  return (
    <p class="unseen told" role="status">
      {told}
    </p>
  );
}
