/** Names of flows, nodes and links, which are never broken across lines. */

/** A name on one line, cut with "…" if it is too long; its tooltip is the complete name. */
export function Name({ name }: { name: string }) {
  return (
    <span class="name" title={name}>
      {name}
    </span>
  );
}

/** A sentence in which names are never broken across lines. */
export function Prose({ text, names }: { text: string; names: readonly string[] }) {
  return split(text, names).map((part, at) => (at % 2 === 1 ? <Name key={at} name={part} /> : part));
}

/** The nodes of a path: a line breaks between two of them, never inside one. */
export function PathOf({ nodes }: { nodes: readonly string[] }) {
  return nodes.map((node, at) => (
    <span key={at}>
      {at > 0 && " → "}
      <Name name={node} />
    </span>
  ));
}

/** Splits a text: parts with odd indices are names. A name does not count next to a letter or a digit. */
export function split(text: string, names: readonly string[]): string[] {
  const found = [...new Set(names)].filter((name) => /[^\p{L}\p{N}]/u.test(name) && text.includes(name));
  if (found.length === 0) {
    return [text];
  }
  // Longer names are tried before names that they start with.
  const any = found
    .sort((one, other) => other.length - one.length)
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${any.join("|")})(?![\\p{L}\\p{N}])`, "u"));
}
