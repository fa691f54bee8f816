/** A sentence of the engine or the schema, with its code marked as such. */
export function Says({ text }: { text: string | undefined }) {
  return (text ?? "")
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={`${index}${part}`}>{part}</code> : part));
}
