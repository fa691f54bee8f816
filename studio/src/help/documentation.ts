/** Addresses that the publisher of the page writes into its head; undefined where there is none. */

function published(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="lightlag-${name}"]`)?.content || undefined;
}

export function documentation(): string | undefined {
  return published("documentation");
}

/** Address of the source code. */
export function source(): string | undefined {
  return published("source");
}
