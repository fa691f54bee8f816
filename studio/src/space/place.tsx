/** Parts that the globe and the swarm share: the canvas of the scene, and the paths of flows as text. */

import type { RefObject } from "preact";
import { Name, PathOf } from "../app/name.tsx";
import { Scrolled, Table } from "../app/table.tsx";
import { SAYS } from "./follow.tsx";

interface PlaceProps {
  host: RefObject<HTMLDivElement | null>;
  /** The id of the text that describes the scene. */
  id: string;
  /** Description of the scene, the start of its accessible name. */
  what: string;
  /** Turns the scene by a key. Returns false for other keys. */
  turn(key: string): boolean | undefined;
}

/** The container of a scene, which keys turn. */
export function Place({ host, id, what, turn }: PlaceProps) {
  return (
    <div
      class="stage"
      ref={host}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys turn the scene
      tabIndex={0}
      aria-describedby={`${SAYS} ${id}`}
      aria-label={`${what}. Arrow keys rotate it, plus and minus zoom. The lists below have the same information.`}
      onKeyDown={(event) => {
        if (turn(event.key)) {
          event.preventDefault();
          event.stopPropagation();
        }
      }}
    />
  );
}

/** A path of a flow; `colour` is the index of its colour. */
export interface Listed {
  key: string | number;
  name: string;
  colour: number;
  since_s: number;
  nodes: string[];
}

export function PathTable({ paths }: { paths: Listed[] }) {
  return (
    <Scrolled label="Paths of flows">
      <Table label="Paths of flows" heads={["flow", "since", "hops", "path"]}>
        {paths.map(({ key, name, colour, since_s, nodes }) => (
          <tr key={key}>
            <td>
              <span class={`key s${(colour % 8) + 1}`} />
              <Name name={name} />
            </td>
            <td>{since_s.toFixed(1)} s</td>
            <td>{Math.max(0, nodes.length - 1)}</td>
            <td class="path">{nodes.length > 0 ? <PathOf nodes={nodes} /> : "none"}</td>
          </tr>
        ))}
      </Table>
    </Scrolled>
  );
}
