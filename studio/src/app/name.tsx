/** Names of flows, nodes and links, which never break inside. */

/** A name on one line: it ends with "…" where there is no room, and its title is the complete name. */
export function Name({ of }: { of: string }) {
  return (
    <span class="name" title={of}>
      {of}
    </span>
  );
}

/** A sentence in which names do not break. */
export function Prose({ text, names }: { text: string; names: readonly string[] }) {
  return split(text, names).map((part, at) => (at % 2 === 1 ? <Name key={at} of={part} /> : part));
}

/** The nodes of a path: a line breaks between two of them, never inside one. */
export function PathOf({ nodes }: { nodes: readonly string[] }) {
  return nodes.map((node, at) => (
    <span key={at}>
      {at > 0 && " → "}
      <Name of={node} />
    </span>
  ));
}

/** The parts of a text: those with odd numbers are names. A name counts only between characters that no name has. */
export function split(text: string, names: readonly string[]): string[] {
  const found = [...new Set(names)].filter((name) => /[^\p{L}\p{N}]/u.test(name) && text.includes(name));
  if (found.length === 0) {
    return [text];
  }
  // Of two names that start alike the longer one is tried first.
  const any = found
    .sort((one, other) => other.length - one.length)
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${any.join("|")})(?![\\p{L}\\p{N}])`, "u"));
}
