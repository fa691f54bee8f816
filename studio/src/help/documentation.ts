/** Address of the documentation, which whoever publishes the page writes into its head; undefined where there is none. */
export function documentation(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="lightlag-documentation"]')?.content || undefined;
}
