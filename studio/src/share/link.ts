/**
 * Scenarios in links: everything is in the fragment of the address, which no server sees.
 *
 * `#a.` and JSON, deflated (RFC 1951), in base64url (RFC 4648). The letter is the version of this form.
 */

import type { Variant } from "../app/state.ts";

/** What a link holds. */
export interface Shared {
  toml: string;
  files?: Record<string, string>;
  seed?: number;
  view?: string;
  variants?: Variant[];
  seeds?: number;
}

/** The form that is written. */
const VERSION = "a";
/** The most characters of a link that are read. */
export const MOST_CHARACTERS = 2_000_000;
/** The most bytes into which they may unpack. */
export const MOST_BYTES = 10_000_000;
/** Links longer than this are cut by some programs. */
export const LONG = 8_000;

/** Why a link gives no scenario. */
export class LinkError extends Error {
  override name = "LinkError";
}

/** The fragment of a scenario, with its `#`. */
export async function written(shared: Shared): Promise<string> {
  const packed = await pack(new TextEncoder().encode(JSON.stringify(shared)));
  return `#${VERSION}.${toBase64Url(packed)}`;
}

/** Whether a fragment is one of a scenario, in this form or in one to come. */
export function isLink(fragment: string): boolean {
  return /^#[a-z]\./.test(fragment);
}

/**
 * The scenario of a fragment.
 *
 * @throws {LinkError} what is wrong with it
 */
export async function read(fragment: string): Promise<Shared> {
  if (!isLink(fragment)) {
    throw new LinkError("the link holds no scenario");
  }
  if (fragment[1] !== VERSION) {
    throw new LinkError(
      `the link has form "${fragment[1]}", and this page reads "${VERSION}"; a newer page may read it`,
    );
  }
  if (fragment.length > MOST_CHARACTERS) {
    throw new LinkError(
      `the link has ${fragment.length.toLocaleString("en")} characters; at most ${MOST_CHARACTERS.toLocaleString("en")} are read`,
    );
  }
  const bytes = await unpack(fromBase64Url(fragment.slice(3)));
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new LinkError("the link is damaged or cut off: it holds no text that can be read");
  }
  return checked(value);
}

async function pack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Unpacks, and stops as soon as there is too much. */
async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > MOST_BYTES) {
        throw new LinkError(`the link unpacks to more than ${MOST_BYTES / 1e6} MB, which no scenario needs`);
      }
      parts.push(part.value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error instanceof LinkError ? error : new LinkError("the link is damaged or cut off: it cannot be unpacked");
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
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) {
    throw new LinkError("the link is damaged: it has characters that no link has");
  }
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  } catch {
    throw new LinkError("the link is damaged or cut off: it cannot be unpacked");
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

/** What each key of a link must be. */
const KEYS: Record<keyof Shared, (value: unknown) => boolean> = {
  toml: (value) => typeof value === "string",
  files: (value) => isTable(value) && Object.values(value).every((file) => typeof file === "string"),
  seed: (value) => isCount(value, Number.MAX_SAFE_INTEGER),
  view: (value) => typeof value === "string",
  variants: (value) => Array.isArray(value) && value.length <= 6 && value.every(isVariant),
  seeds: (value) => isCount(value, 200) && value > 0,
};

/** A value with the keys of a link. Keys that are unknown here are left out. */
function checked(value: unknown): Shared {
  if (!isTable(value) || value.toml === undefined) {
    throw new LinkError("the link holds no scenario");
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
