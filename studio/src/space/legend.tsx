/** Legend of a scene's objects. */

export interface Item {
  /** The class of its colour, and whether it is drawn as a dot or a line. */
  look: string;
  shape: "dot" | "line";
  says: string;
}

export function Legend({ items }: { items: Item[] }) {
  return (
    <ul class="legend" aria-label="Legend">
      {items.map(({ look, shape, says }) => (
        <li key={says}>
          <span class={`sign ${shape} ${look}`} aria-hidden="true" />
          {says}
        </li>
      ))}
    </ul>
  );
}
