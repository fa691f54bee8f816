/** Hashes of the shipped scenarios by the native engine, if the page was built with them. */

import { presets } from "../app/presets.ts";
import { address } from "../engine/here.ts";

export interface Native {
  version: string;
  /** Hashes by the name of the scenario. */
  hashes: Record<string, string>;
}

let known: Promise<Native | undefined> | undefined;

/** Returns the table; undefined if the page has none. */
function natives(): Promise<Native | undefined> {
  known ??= fetch(address("hashes.json"))
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined);
  return known;
}

/** Returns the version and the hash of a native run of this exact scenario; undefined if unknown. */
export async function nativeOf(
  toml: string,
  seed: number | undefined,
): Promise<{ version: string; hash: string } | undefined> {
  const preset = presets.find((other) => other.toml === toml);
  const table = preset && seed === undefined ? await natives() : undefined;
  const hash = preset && table?.hashes?.[preset.name];
  return table && hash ? { version: table.version, hash } : undefined;
}
