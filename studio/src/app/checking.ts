/** Checks the scenario shortly after each change of its text. */

import { effect, signal } from "@preact/signals";
import { about, checked, door, elsewhere, files, scenarioInput, toml } from "./state.ts";

/** Error of the engine itself, not of the scenario. */
export const fault = signal<string | undefined>(undefined);

/** Delay in milliseconds between a change of the text and its check. */
const REST = 120;

/** Updates `checked` for the lifetime of the page. */
export function keepChecking(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = effect(() => {
    void toml.value;
    void files.value;
    void elsewhere.value;
    clearTimeout(timer);
    timer = setTimeout(() => void check(), checked.peek() ? REST : 0);
  });
  return () => {
    clearTimeout(timer);
    end();
  };
}

/** Checks the current text with the engine; once more if the engine dies. A result for an older text is dropped. */
export async function check(): Promise<void> {
  const now = scenarioInput();
  for (const isLast of [false, true]) {
    try {
      about.value ??= await door().ask({ op: "about" });
      const answer = await door().ask({ op: "check", ...now });
      if (now.toml === toml.peek() && now.files === files.peek()) {
        checked.value = answer;
      }
      fault.value = undefined;
      return;
    } catch (error) {
      fault.value = isLast ? (error instanceof Error ? error.message : String(error)) : fault.peek();
    }
  }
}
