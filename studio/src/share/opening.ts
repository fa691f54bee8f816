/** Opens the scenario of the page's address, at the start and whenever a link is followed. */

import { batch, signal } from "@preact/signals";
import { files, seed, seeds, startsItself, take, toml, variants } from "../app/state.ts";
import { open, view } from "../app/views.ts";
import { isLink, LinkError, read, type Shared, written } from "./link.ts";

/** Reason why the link gave no scenario; the page keeps its own. */
export const fault = signal<string | undefined>(undefined);

/** Opens the scenario of the address, if there is one. */
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

/** Opens followed links for the lifetime of the page. */
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
  // A link shows its result, whatever view it was made in.
  startsItself.value = true;
  open(shared.view === "compare" && shared.variants ? "compare" : "run");
}

/** Returns the content of a link to this page. */
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

/** Returns the address of a page of the studio with a fragment. */
export async function linkTo(page: string, shared: Shared): Promise<string> {
  const address = new URL(page, document.baseURI);
  address.search = "";
  return `${address.href.replace(/#.*$/, "")}${await written(shared)}`;
}
