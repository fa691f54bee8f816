/**
 * Context of a position in a TOML text: the table, the key, and whether a key or a value is due. The text may be
 * incomplete.
 */

import type { Path } from "./path.ts";

export interface Place {
  /** Path of the table; if a value is due, path of the value. */
  path: Path;
  due: "key" | "value" | "header";
  /** Start of the word that is being written. */
  from: number;
}

interface Frame {
  opens: "{" | "[";
  path: Path;
  /** The key of the missing value, in a table. */
  key: string[];
  /** The index of the item, in a list. */
  index: number;
  isValue: boolean;
}

const HEADER = /^[ \t]*(\[\[?)[ \t]*([^[\]\n#]*?)[ \t]*\]\]?/;
const WORD = /[A-Za-z0-9_+.-]/;

/** Returns the context of a position; undefined inside a comment. */
export function placeAt(text: string, position: number): Place | undefined {
  const before = text.slice(0, position);
  const { path, start } = tableBefore(before);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const header = /^[ \t]*\[\[?[ \t]*([A-Za-z0-9_.-]*)$/.exec(line);
  if (header && start <= position - line.length && isAtStart(before.slice(start, position - line.length))) {
    return { path: [], due: "header", from: position - (header[1]?.length ?? 0) };
  }
  return scan(before, start, path);
}

/** Returns the path of the table with the last header, and the start of its body. */
function tableBefore(before: string): { path: Path; start: number } {
  const counts = new Map<string, number>();
  let path: Path = [];
  let start = 0;
  let at = 0;
  for (const line of before.split("\n").slice(0, -1)) {
    at += line.length + 1;
    const [, opens, name] = HEADER.exec(line) ?? [];
    if (!opens || !name || !/^[\w"'. -]+$/.test(name)) {
      continue;
    }
    const keys = name.split(".").map((key) => key.trim().replace(/^["']|["']$/g, ""));
    if (opens === "[[") {
      counts.set(keys.join("."), (counts.get(keys.join(".")) ?? -1) + 1);
    }
    path = keys.flatMap((key, index) => {
      const count = counts.get(keys.slice(0, index + 1).join("."));
      return count === undefined ? [key] : [key, count];
    });
    start = at;
  }
  return { path, start };
}

/** Returns true if all brackets and strings are closed. */
function isAtStart(body: string): boolean {
  return scan(body, 0, [])?.due === "key" && opened(body) === 0;
}

function opened(body: string): number {
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const sign = body[at];
    if (sign === '"' || sign === "'") {
      at = endOfText(body, at) - 1;
    } else if (sign === "#") {
      at = endOfLine(body, at);
    } else if (sign === "{" || sign === "[") {
      depth++;
    } else if (sign === "}" || sign === "]") {
      depth--;
    }
  }
  return depth;
}

function scan(text: string, start: number, table: Path): Place | undefined {
  const root: Frame = { opens: "{", path: table, key: [], index: 0, isValue: false };
  const frames: Frame[] = [root];
  let word = "";
  let from = text.length;
  const top = () => frames.at(-1) ?? root;
  for (let at = start; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === "#") {
      at = endOfLine(text, at);
      if (at >= text.length) {
        return undefined;
      }
      at--;
      continue;
    }
    if (sign === '"' || sign === "'") {
      const end = endOfText(text, at);
      if (end > text.length || (end === text.length && !isClosed(text, at, sign))) {
        return { path: here(top()), due: top().isValue || top().opens === "[" ? "value" : "key", from: at };
      }
      word = text.slice(at + 1, end - 1);
      from = at;
      at = end - 1;
      continue;
    }
    if (WORD.test(sign)) {
      if (word === "" || !WORD.test(text[at - 1] ?? "")) {
        word = "";
        from = at;
      }
      word += sign;
      continue;
    }
    take(frames, sign, word);
    if (sign !== " " && sign !== "\t") {
      word = "";
    }
    from = text.length;
  }
  const isWriting = WORD.test(text.at(-1) ?? "") || /["']/.test(text.at(-1) ?? "");
  const frame = top();
  const isValue = frame.isValue || frame.opens === "[";
  return { path: here(frame), due: isValue ? "value" : "key", from: isWriting ? from : text.length };
}

/** Processes a character that has a syntactic meaning. */
function take(frames: Frame[], sign: string, word: string): void {
  const frame = frames.at(-1);
  if (!frame) {
    return;
  }
  if (sign === "=") {
    frame.key = word.split(".");
    frame.isValue = true;
  } else if (sign === "{" || sign === "[") {
    frames.push({ opens: sign, path: here(frame), key: [], index: 0, isValue: false });
  } else if (sign === "}" || sign === "]") {
    if (frames.length > 1) {
      frames.pop();
    }
  } else if (sign === ",") {
    frame.isValue = false;
    frame.key = [];
    frame.index++;
  } else if (sign === "\n" && frames.length === 1) {
    frame.isValue = false;
    frame.key = [];
  }
}

function here(frame: Frame): Path {
  return frame.opens === "["
    ? [...frame.path, frame.index]
    : frame.isValue
      ? [...frame.path, ...frame.key]
      : frame.path;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Returns the end of a quoted string; if it is not closed, the end of its line. */
function endOfText(text: string, at: number): number {
  const quote = text[at] ?? '"';
  const long = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
  for (let end = at + long.length; end < text.length; end++) {
    if (quote === '"' && text[end] === "\\") {
      end++;
    } else if (text.startsWith(long, end)) {
      return end + long.length;
    } else if (long === quote && text[end] === "\n") {
      return end;
    }
  }
  return text.length;
}

function isClosed(text: string, at: number, quote: string): boolean {
  return text.length - at > 1 && text.endsWith(quote);
}
