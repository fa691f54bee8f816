/**
 * Scenarios in links: all data is in the fragment of the address, which is not sent to a server.
 *
 * `#a.` and JSON, deflated (RFC 1951), in base64url (RFC 4648). The letter is the version of this form.
 */

import { base64 } from "../app/base64.ts";
import type { Variant } from "../app/state.ts";

/** Content of a link. */
export interface Shared {
  toml: string;
  files?: Record<string, string>;
  seed?: number;
  view?: string;
  variants?: Variant[];
  seeds?: number;
}

/** The version that is written. */
const VERSION = "a";
/** Maximum number of characters of a link that are read. */
export const MOST_CHARACTERS = 2_000_000;
/** Maximum size of an unpacked link in bytes. */
export const MOST_BYTES = 10_000_000;
/** Length of a link in characters; some programs cut longer ones. */
export const LONG = 8_000;

/** Reason why a link gives no scenario. */
export class LinkError extends Error {
  override name = "LinkError";
}

/** Returns the fragment of a scenario, with its `#`. */
export async function written(shared: Shared): Promise<string> {
  const packed = await pack(new TextEncoder().encode(JSON.stringify(shared)));
  return `#${VERSION}.${toBase64Url(packed)}`;
}

/** Returns true if a fragment holds a scenario, in this version or in a later one. */
export function isLink(fragment: string): boolean {
  return /^#[a-z]\./.test(fragment);
}

/**
 * Returns the scenario in a fragment.
 *
 * @throws {LinkError} if the fragment is invalid
 */
export async function read(fragment: string): Promise<Shared> {
  if (!isLink(fragment)) {
    throw new LinkError("the link has no scenario");
  }
  if (fragment[1] !== VERSION) {
    throw new LinkError(
      `the link has version "${fragment[1]}", and this studio reads "${VERSION}"; use a newer studio`,
    );
  }
  if (fragment.length > MOST_CHARACTERS) {
    throw new LinkError(
      `the link has ${fragment.length.toLocaleString("en")} characters; the maximum is ${MOST_CHARACTERS.toLocaleString("en")}`,
    );
  }
  const bytes = await unpack(fromBase64Url(fragment.slice(3)));
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new LinkError("the link is damaged or truncated: its text cannot be decoded");
  }
  return checked(value);
}

async function pack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Decompresses, and stops as soon as the limit is exceeded. */
async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > MOST_BYTES) {
        throw new LinkError(`the link decompresses to more than ${MOST_BYTES / 1e6} MB, the maximum`);
      }
      parts.push(part.value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error instanceof LinkError
      ? error
      : new LinkError("the link is damaged or truncated: it cannot be decompressed");
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function toBase64Url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) {
    throw new LinkError("the link is damaged: it has invalid characters");
  }
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  } catch {
    throw new LinkError("the link is damaged or truncated: it cannot be decompressed");
  }
}

type Table = Record<string, unknown>;

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;
}

function isVariant(value: unknown): value is Variant {
  const isPair = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
  return isTable(value) && typeof value.name === "string" && Array.isArray(value.sets) && value.sets.every(isPair);
}

/** Validators of the keys of a link. */
const KEYS: Record<keyof Shared, (value: unknown) => boolean> = {
  toml: (value) => typeof value === "string",
  files: (value) => isTable(value) && Object.values(value).every((file) => typeof file === "string"),
  seed: (value) => isCount(value, Number.MAX_SAFE_INTEGER),
  view: (value) => typeof value === "string",
  variants: (value) => Array.isArray(value) && value.length <= 6 && value.every(isVariant),
  seeds: (value) => isCount(value, 200) && value > 0,
};

/** Returns a value with the keys of a link. Unknown keys are left out. */
function checked(value: unknown): Shared {
  if (!isTable(value) || value.toml === undefined) {
    throw new LinkError("the link has no scenario");
  }
  const found: Table = {};
  for (const [key, isRight] of Object.entries(KEYS)) {
    if (value[key] !== undefined) {
      if (!isRight(value[key])) {
        throw new LinkError(`the link is damaged: ${key} is ${JSON.stringify(value[key]).slice(0, 40)}`);
      }
      found[key] = value[key];
    }
  }
  return found as unknown as Shared;
}
