import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";
import { Fault } from "./fault.tsx";

/** Returns a component that is loaded when it is shown. */
export function Lazy({ name, load }: { name: string; load: () => Promise<{ default: ComponentType }> }) {
  const loaded = useSignal<{ Part: ComponentType } | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const first = useMemo(() => load, [load]);
  useSignalEffect(() => {
    first().then(
      (module) => {
        loaded.value = { Part: module.default };
      },
      (error: unknown) => {
        fault.value = error instanceof Error ? error.message : String(error);
      },
    );
  });
  if (fault.value) {
    return (
      <Fault>
        {name} cannot be loaded: {fault.value}. Reload the page.
      </Fault>
    );
  }
  if (!loaded.value) {
    return (
      <p class="waiting" role="status">
        {name} …
      </p>
    );
  }
  const { Part } = loaded.value;
  return <Part />;
}
