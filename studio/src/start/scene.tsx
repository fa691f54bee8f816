/** The animation of the first screen: the network with packets in transit, over and over. */

import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { network, runs } from "../app/parts.ts";
import type { Live } from "../run/live.ts";
import { FROM_S, input, PACE } from "./demo.ts";

type Drawing = ComponentType<{ live: Live; isPlain?: boolean }>;

export function Scene() {
  const run = useSignal<Live | undefined>(undefined);
  const drawing = useSignal<{ Part: Drawing } | undefined>(undefined);
  const fault = useSignal("");
  const again = useSignal(0);
  useEffect(() => {
    network().then(({ default: Part }) => {
      drawing.value = { Part };
    });
  }, []);
  useSignalEffect(() => {
    const scenario = input.value;
    void again.value;
    let isGone = false;
    let own: Live | undefined;
    // A moving slider gives many scenarios, and only the last one starts.
    const timer = setTimeout(
      () => {
        runs()
          .then(({ separate }) => separate(scenario, { speed: PACE, skip_s: FROM_S }))
          .then((next) => {
            own = next;
            if (isGone) {
              next.stop();
              return;
            }
            run.value = next;
            next.play();
            next.state.subscribe((state) => {
              if (state === "over" && !isGone) {
                again.value++;
              }
            });
          })
          .catch((error: unknown) => {
            fault.value = isGone ? fault.peek() : error instanceof Error ? error.message : String(error);
          });
      },
      run.peek() ? 120 : 0,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
      own?.stop();
    };
  });
  const shown = drawing.value;
  return (
    <div class="scene">
      <Fault>{fault.value}</Fault>
      {shown && run.value && <shown.Part live={run.value} isPlain />}
    </div>
  );
}
