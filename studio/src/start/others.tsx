/** Links to other scenarios: presets, the minimal one, a file. */

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Lazy } from "../app/lazy.tsx";
import { importing, presetCards } from "../app/parts.ts";
import { taken } from "../app/state.ts";
import { open } from "../app/views.ts";

const cards = () => presetCards().then(({ Cards }) => ({ default: () => <Cards made={() => open("scenario")} /> }));
const files = () => importing().then(({ Imports }) => ({ default: Imports }));

export default function Others() {
  const before = useRef(taken.peek());
  useSignalEffect(() => {
    if (taken.value !== before.current) {
      before.current = taken.value;
      open("run");
    }
  });
  return (
    <div class="others">
      <Lazy name="Presets" load={cards} />
      <div class="from-file">
        <Lazy name="Files" load={files} />
        <span class="quiet">a scenario, a trace of a link, or a capture</span>
      </div>
    </div>
  );
}
