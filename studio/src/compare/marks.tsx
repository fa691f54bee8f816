/** The colour and dash pattern of a variant. */

import { DASHES, SERIES } from "../app/theme.ts";

export function Mark({ index }: { index: number }) {
  return (
    <svg class="mark-of" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
      <line
        class={SERIES[index % SERIES.length]}
        x1="0"
        x2="24"
        y1="4"
        y2="4"
        stroke-width="2.5"
        stroke-dasharray={DASHES[index % DASHES.length]?.join(" ")}
      />
    </svg>
  );
}
