/** History of the scenario: every change can be undone, from the form, the drawing or the text. */

import { batch, computed, effect, signal } from "@preact/signals";
import { files, toml } from "./state.ts";

interface State {
  toml: string;
  files: Record<string, string>;
}

/** Maximum number of stored states. */
const MOST = 300;
/** Changes that follow each other within this number of milliseconds are undone together. */
const TOGETHER = 700;

const before = signal<State[]>([]);
const after = signal<State[]>([]);
let now: State = { toml: toml.peek(), files: files.peek() };
let last = Number.NEGATIVE_INFINITY;
let isOwn = false;

export const canUndo = computed(() => before.value.length > 0);
export const canRedo = computed(() => after.value.length > 0);

/** Records the history for the lifetime of the page. */
export function keepHistory(clock: () => number = () => performance.now()): () => void {
  now = { toml: toml.peek(), files: files.peek() };
  return effect(() => {
    const next = { toml: toml.value, files: files.value };
    if (next.toml === now.toml && next.files === now.files) {
      return;
    }
    if (!isOwn) {
      const time = clock();
      const isApart = time - last > TOGETHER || before.peek().length === 0;
      last = time;
      before.value = isApart ? [...before.peek().slice(1 - MOST), now] : before.peek();
      after.value = [];
    }
    now = next;
  });
}

export function undo(): void {
  move(before, after);
}

export function redo(): void {
  move(after, before);
}

function move(from: typeof before, to: typeof before): void {
  const state = from.peek().at(-1);
  if (!state) {
    return;
  }
  const left = now;
  isOwn = true;
  last = Number.NEGATIVE_INFINITY;
  batch(() => {
    from.value = from.peek().slice(0, -1);
    to.value = [...to.peek(), left];
    toml.value = state.toml;
    files.value = state.files;
  });
  isOwn = false;
}
