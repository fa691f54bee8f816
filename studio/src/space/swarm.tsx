import "../app/key.css";
import "./space.css";
import "./swarm.css";
import { useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Tick } from "../app/fields.tsx";
import { Name } from "../app/name.tsx";
import { Roving } from "../app/roving.tsx";
import type { Watched } from "../app/watched.ts";
import { waysOf } from "../app/ways.ts";
import { Flock, type FlockNow, inMetres } from "./flock.ts";
import { shownTime, TimeBar } from "./follow.tsx";
import { type Item, Legend } from "./legend.tsx";
import { PathTable, Place } from "./place.tsx";
import { useScene } from "./scene.ts";
import { hasWebGL } from "./stage.ts";
import { NoWebGL } from "./webgl.tsx";

const LEGEND: Item[] = [
  { look: "source", shape: "dot", says: "source of a flow" },
  { look: "destination", shape: "dot", says: "destination" },
  { look: "relay", shape: "dot", says: "relay" },
  { look: "other", shape: "dot", says: "other node" },
  { look: "stem", shape: "line", says: "height above the ground" },
  { look: "track", shape: "line", says: "track" },
  { look: "path", shape: "line", says: "path of a flow, in its colour" },
];
const HEARD: Item = { look: "heard", shape: "line", says: "radio link, fainter where its signal is weaker" };

/** The flight of nodes with radios in three dimensions, and the paths of flows over them. */
export default function Swarm({ live }: { live: Watched }) {
  const shown = useMemo(() => shownTime(live), [live]);
  const id = useId();
  const now = useSignal<FlockNow | undefined>(undefined);
  const hasTracks = useSignal(true);
  const hasLinks = useSignal(true);
  const hasNames = useSignal(true);
  const names = live.started;
  const tell = (told: FlockNow) => {
    now.value = told;
  };
  const {
    host,
    scene: flock,
    fault,
  } = useScene(live, async (place, own) => {
    const opened = await Flock.open(place, own, live.input, names.nodes, waysOf(live), () => shown.wanted.peek(), tell);
    opened.showTracks(hasTracks.peek());
    opened.showLinks(hasLinks.peek());
    opened.showNames(hasNames.peek());
    return opened;
  });
  if (!hasWebGL()) {
    return <NoWebGL what="The flight" />;
  }
  return (
    <section class="space" aria-label="Swarm">
      <div class="space-bar">
        <TimeBar shown={shown} end={names.end_s} says={`${(now.value?.time_s ?? 0).toFixed(1)} s`} />
        <Tick
          name="Names"
          isOn={hasNames.value}
          tick={(isOn) => {
            hasNames.value = isOn;
            flock.current?.showNames(isOn);
          }}
        />
        <Tick
          name="Tracks of the last 20 s"
          isOn={hasTracks.value}
          tick={(isOn) => {
            hasTracks.value = isOn;
            flock.current?.showTracks(isOn);
          }}
        />
        {now.value && flock.current?.hasLinks && (
          <Tick
            name="Radio links"
            isOn={hasLinks.value}
            tick={(isOn) => {
              hasLinks.value = isOn;
              flock.current?.showLinks(isOn);
            }}
          />
        )}
      </div>
      <Fault>{fault.value}</Fault>
      <Place host={host} id={id} what="The area of the flight" turn={(key) => flock.current?.key(key)} />
      <Legend
        items={[
          ...LEGEND,
          ...(now.value && flock.current?.hasLinks ? [HEARD] : []),
          ...(now.value && flock.current
            ? [{ look: "square", shape: "dot", says: `ground: squares of ${flock.current.square}` } as const]
            : []),
        ]}
      />
      {now.value && flock.current && <Listed flock={flock.current} now={now.value} id={id} flows={names.flows} />}
    </section>
  );
}

/** Describes the scene as text. */
function Listed({ flock, now, id, flows }: { flock: Flock; now: FlockNow; id: string; flows: string[] }) {
  return (
    <div class="space-list">
      <p class="quiet" id={id}>
        {flock.names.length} nodes with radios
        {flock.hasLinks && `, ${now.links.toLocaleString("en")} pairs of them can exchange data`};{" "}
        {now.ways.length > 0
          ? `the paths of ${now.ways.length} of ${flows.length} flows are known so far.`
          : "no path of a flow is known so far: no data has been received by radio."}
      </p>
      {now.ways.length > 0 && (
        <details open>
          <summary>Paths of flows</summary>
          <PathTable
            paths={now.ways.map(({ flow, since_s, nodes }) => ({
              key: flow,
              name: flows[flow] ?? "",
              colour: flow,
              since_s,
              nodes,
            }))}
          />
        </details>
      )}
      <details>
        <summary>Nodes</summary>
        <Roving label="Nodes">
          <ul>
            {flock.names.map((name, node) => (
              <li key={name}>
                <button type="button" class="plain" onClick={() => flock.mark(node)}>
                  <Name name={name} />
                </button>{" "}
                <span class="quiet">
                  {flock.roleOf(node) === "other" ? "" : `${flock.roleOf(node)}, `}
                  {inMetres(flock.placeOf(node))}
                </span>
              </li>
            ))}
          </ul>
        </Roving>
      </details>
    </div>
  );
}
