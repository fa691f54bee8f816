/** Words for those who do not see the page change. */

import { signal } from "@preact/signals";

const told = signal("");

/** Lets a screen reader say a sentence once, after what it says now. */
export function tell(sentence: string): void {
  told.value = sentence;
}

/** The region of these words. It is always there: a region that comes together with its words is not heard. */
export function Told() {
  return (
    <p class="unseen told" role="status">
      {told}
    </p>
  );
}
