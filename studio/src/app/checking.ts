/** Checks the scenario shortly after each change of its text. */

import { effect, signal } from "@preact/signals";
import { about, asked, checked, door, elsewhere, files, toml } from "./state.ts";

/** What went wrong with the engine itself, not with the scenario. */
export const fault = signal<string | undefined>(undefined);

/** How long the text rests before it is checked, in milliseconds. */
const REST = 120;

/** Keeps `checked` up to date for as long as the page lives. */
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

/** Asks the engine about the text as it is now, twice if it dies. An answer to an older text is dropped. */
export async function check(): Promise<void> {
  const now = asked();
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
