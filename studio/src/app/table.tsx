/** Tables, and the regions in which they scroll. */

import type { ComponentChildren } from "preact";

/** The heading of a column, optionally with a tooltip. */
export type Head = string | readonly [name: string, title: string];

/** A region that may be wider than the page; it is reachable by keyboard. */
export function Scrolled(props: { label: string; kind?: "scroll" | "wide"; children: ComponentChildren }) {
  const { label, kind = "scroll", children } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section class={kind} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** A table of these columns; its children are the rows. */
export function Table({
  label,
  heads,
  children,
}: {
  label: string;
  heads: readonly Head[];
  children: ComponentChildren;
}) {
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {heads.map((head) => {
            const [name, title] = typeof head === "string" ? [head] : head;
            return (
              <th scope="col" title={title} key={name}>
                {name}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
