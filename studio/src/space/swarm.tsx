import "../app/key.css";
import "./space.css";
import { useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { Name, PathOf } from "../app/name.tsx";
import { Roving } from "../app/roving.tsx";
import type { Watched } from "../app/watched.ts";
import { waysOf } from "../app/ways.ts";
import { Flock, type FlockNow, inMetres } from "./flock.ts";
import { SAYS, shownTime, TimeBar } from "./follow.tsx";
import { type Item, Legend } from "./legend.tsx";
import { useScene } from "./scene.ts";
import { hasWebGL } from "./stage.ts";
import { NoWebGL } from "./webgl.tsx";

const LEGEND: Item[] = [
  { look: "node", shape: "dot", says: "node" },
  { look: "stem", shape: "line", says: "its height above the ground" },
  { look: "track", shape: "line", says: "its track" },
  { look: "path", shape: "line", says: "path of a flow, in its colour" },
];
const HEARD: Item = { look: "heard", shape: "line", says: "radio link, fainter where its signal is weaker" };

/** The flight of nodes with radios in three dimensions, and the ways of flows over them. */
export default function Swarm({ live }: { live: Watched }) {
  const shown = useMemo(() => shownTime(live), [live]);
  const id = useId();
  const now = useSignal<FlockNow | undefined>(undefined);
  const hasTracks = useSignal(true);
  const hasLinks = useSignal(true);
  const names = live.started;
  const tell = (told: FlockNow) => {
    now.value = told;
  };
  const {
    host,
    scene: flock,
    fault,
  } = useScene(live, async (place, own) => {
    const opened = await Flock.open(place, own, live.asked, names.nodes, waysOf(live), () => shown.wanted.peek(), tell);
    opened.showTracks(hasTracks.peek());
    opened.showLinks(hasLinks.peek());
    return opened;
  });
  if (!hasWebGL()) {
    return <NoWebGL what="The flight" />;
  }
  return (
    <section class="space" aria-label="Swarm">
      <div class="space-bar">
        <TimeBar shown={shown} end={names.end_s} says={`${(now.value?.time_s ?? 0).toFixed(1)} s`} />
        <label>
          <input
            type="checkbox"
            checked={hasTracks.value}
            onInput={({ currentTarget }) => {
              hasTracks.value = currentTarget.checked;
              flock.current?.showTracks(currentTarget.checked);
            }}
          />
          Tracks of the last 20 s
        </label>
        {now.value && flock.current?.hasLinks && (
          <label>
            <input
              type="checkbox"
              checked={hasLinks.value}
              onInput={({ currentTarget }) => {
                hasLinks.value = currentTarget.checked;
                flock.current?.showLinks(currentTarget.checked);
              }}
            />
            Radio links
          </label>
        )}
      </div>
      {fault.value && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
      <div
        class="stage"
        ref={host}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys turn the flight
        tabIndex={0}
        aria-describedby={`${SAYS} ${id}`}
        aria-label="The area of the flight. Arrow keys turn it, plus and minus come closer and go away. The lists below say the same."
        onKeyDown={(event) => {
          if (flock.current?.key(event.key)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      />
      <Legend items={now.value && flock.current?.hasLinks ? [...LEGEND, HEARD] : LEGEND} />
      {now.value && flock.current && <Listed flock={flock.current} now={now.value} id={id} flows={names.flows} />}
    </section>
  );
}

/** What the picture shows, in words. */
function Listed({ flock, now, id, flows }: { flock: Flock; now: FlockNow; id: string; flows: string[] }) {
  return (
    <div class="space-list">
      <p class="quiet" id={id}>
        {flock.names.length} nodes with radios
        {flock.hasLinks && `, ${now.links.toLocaleString("en")} pairs of them hear each other well enough for data`};{" "}
        {now.ways.length > 0
          ? `the paths of ${now.ways.length} of ${flows.length} flows are known so far.`
          : "no path of a flow is known so far: no data has been received by radio."}
      </p>
      <details open>
        <summary>Paths of flows</summary>
        <section
          class="scroll"
          aria-label="Paths of flows"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it may be wider than the page
          tabIndex={0}
        >
          <table aria-label="Paths of flows">
            <thead>
              <tr>
                <th scope="col">flow</th>
                <th scope="col">since</th>
                <th scope="col">hops</th>
                <th scope="col">path</th>
              </tr>
            </thead>
            <tbody>
              {now.ways.map(({ flow, since_s, nodes }) => (
                <tr key={flow}>
                  <td>
                    <span class={`key s${(flow % 8) + 1}`} />
                    <Name of={flows[flow] ?? ""} />
                  </td>
                  <td>{since_s.toFixed(1)} s</td>
                  <td>{nodes.length - 1}</td>
                  <td class="path">
                    <PathOf nodes={nodes} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
      <details>
        <summary>Nodes</summary>
        <Roving label="Nodes">
          <ul>
            {flock.names.map((name, node) => (
              <li key={name}>
                <button type="button" class="plain" onClick={() => flock.mark(node)}>
                  <Name of={name} />
                </button>{" "}
                <span class="quiet">{inMetres(flock.placeOf(node))}</span>
              </li>
            ))}
          </ul>
        </Roving>
      </details>
    </div>
  );
}
