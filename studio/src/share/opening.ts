/** Takes the scenario of the page's address, at the start and whenever a link is followed. */

import { batch, signal } from "@preact/signals";
import { files, seed, seeds, take, toml, variants } from "../app/state.ts";
import { open, view, views } from "../app/views.ts";
import { isLink, LinkError, read, type Shared, written } from "./link.ts";

/** Why the link gave no scenario; the page goes on with what it has. */
export const fault = signal<string | undefined>(undefined);

/** Takes the scenario of the address, if there is one. */
export async function openLink(fragment = location.hash): Promise<void> {
  if (!isLink(fragment)) {
    return;
  }
  try {
    accept(await read(fragment));
    fault.value = undefined;
  } catch (error) {
    fault.value = error instanceof LinkError ? error.message : String(error);
  }
}

/** Follows links for as long as the page lives. */
export function keepLinks(): void {
  addEventListener("hashchange", () => void openLink());
}

function accept(shared: Shared): void {
  batch(() => {
    take(shared.toml, shared.files);
    seed.value = shared.seed;
    variants.value = shared.variants ?? [];
    seeds.value = shared.seeds ?? seeds.peek();
  });
  if (shared.view !== undefined && views.some(({ key }) => key === shared.view)) {
    open(shared.view);
  }
}

/** What a link of this page holds now. */
export function current(): Shared {
  const shared: Shared = { toml: toml.value, view: view.value };
  if (Object.keys(files.value).length > 0) {
    shared.files = files.value;
  }
  if (seed.value !== undefined) {
    shared.seed = seed.value;
  }
  if (variants.value.length > 0) {
    shared.variants = variants.value;
    shared.seeds = seeds.value;
  }
  return shared;
}

/** The address of a page of the studio with a fragment. */
export async function linkTo(page: string, shared: Shared): Promise<string> {
  const address = new URL(page, document.baseURI);
  address.search = "";
  return `${address.href.replace(/#.*$/, "")}${await written(shared)}`;
}
