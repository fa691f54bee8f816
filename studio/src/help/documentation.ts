/** Address of the documentation, which the publisher of the page writes into its head; undefined if there is none. */
export function documentation(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="lightlag-documentation"]')?.content || undefined;
}
