import "../app/key.css";
import "./space.css";
import { signal, useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Tick } from "../app/fields.tsx";
import { Name } from "../app/name.tsx";
import { Roving } from "../app/roving.tsx";
import type { Watched } from "../app/watched.ts";
import { placeInWords } from "./earth.ts";
import { shownTime, TimeBar } from "./follow.tsx";
import { type Item, Legend } from "./legend.tsx";
import { Orbits, type OrbitsNow } from "./orbits.ts";
import { PathTable, Place } from "./place.tsx";
import { useScene } from "./scene.ts";
import { hasWebGL } from "./stage.ts";
import { NoWebGL } from "./webgl.tsx";

const FOUND = 20;
const LEGEND: Item[] = [
  { look: "star", shape: "dot", says: "satellite" },
  { look: "carrier", shape: "dot", says: "satellite on a path" },
  { look: "station", shape: "dot", says: "station" },
  { look: "isl", shape: "line", says: "link between satellites" },
  { look: "path", shape: "line", says: "path of a flow, in its colour" },
];

/** Options of the drawing, shared by all runs. */
const hasLinks = signal(true);
const hasNight = signal(true);
const isReal = signal(false);

/** The Earth with the satellites of a scenario, their links, and the paths of flows. */
export default function Globe({ live }: { live: Watched }) {
  const shown = useMemo(() => shownTime(live), [live]);
  const id = useId();
  const now = useSignal<OrbitsNow | undefined>(undefined);
  const names = live.started;
  const end = names.end_s;
  const tell = (told: OrbitsNow) => {
    now.value = told;
  };
  const {
    host,
    scene: orbits,
    fault,
  } = useScene(live, async (place, own) => {
    const opened = await Orbits.open(place, own, live.input, end, () => shown.wanted.peek(), tell);
    opened.showLinks(hasLinks.peek());
    opened.showNight(hasNight.peek());
    opened.showReal(isReal.peek());
    return opened;
  });
  if (!hasWebGL()) {
    return <NoWebGL what="The globe" />;
  }
  return (
    <section class={isReal.value ? "space real" : "space"} aria-label="Globe">
      <div class="space-bar">
        <TimeBar shown={shown} end={end} says={timeSays(orbits.current, now.value?.time_s ?? 0)} />
        <Tick
          name="Links between satellites"
          isOn={hasLinks.value}
          tick={(isOn) => {
            hasLinks.value = isOn;
            orbits.current?.showLinks(isOn);
          }}
        />
        {now.value && orbits.current?.hasSun && (
          <Tick
            name="Day and night"
            isOn={hasNight.value}
            tick={(isOn) => {
              hasNight.value = isOn;
              orbits.current?.showNight(isOn);
            }}
          />
        )}
        <Tick
          name="Natural colours"
          isOn={isReal.value}
          tick={(isOn) => {
            isReal.value = isOn;
            orbits.current?.showReal(isOn);
          }}
        />
      </div>
      <Fault>{fault.value}</Fault>
      <Place host={host} id={id} what="The Earth from space" turn={(key) => orbits.current?.key(key)} />
      <Legend items={LEGEND} />
      {now.value && orbits.current && <Listed orbits={orbits.current} now={now.value} id={id} />}
    </section>
  );
}

function timeSays(orbits: Orbits | undefined, time_s: number): string {
  const seconds = `${time_s.toFixed(1)} s`;
  const start = Date.parse(orbits?.sky.start ?? "");
  return Number.isNaN(start)
    ? seconds
    : `${seconds} · ${new Date(start + time_s * 1000).toISOString().slice(11, 19)} UTC`;
}

/** Describes the scene as text. */
function Listed({ orbits, now, id }: { orbits: Orbits; now: OrbitsNow; id: string }) {
  const wanted = useSignal("");
  const { satellites, stations, flows } = orbits.sky;
  const word = wanted.value.trim().toLowerCase();
  const found = word ? satellites.map((name, node) => ({ name, node })).filter(({ name }) => name.includes(word)) : [];
  return (
    <div class="space-list">
      <p class="quiet" id={id}>
        {satellites.length.toLocaleString("en")} satellites, {now.isls.toLocaleString("en")} links between them are up;{" "}
        {now.ways.filter(({ nodes }) => nodes.length > 0).length} of {now.ways.length} flows have a path.
      </p>
      <h3>Paths of flows</h3>
      <PathTable
        paths={now.ways.map(({ flow, from_s, nodes }, index) => ({
          key: `${index} ${flow}`,
          name: flow,
          colour: index,
          since_s: from_s,
          nodes: nodes.map((node) => orbits.nameOf(node)),
        }))}
      />
      {flows.length > now.ways.length && (
        <p class="quiet">… and {(flows.length - now.ways.length).toLocaleString("en")} more flows.</p>
      )}
      <details>
        <summary>Stations and satellites</summary>
        <Roving label="Stations">
          <ul>
            {stations.map((name, index) => (
              <li key={name}>
                <Face orbits={orbits} node={satellites.length + index} name={name} />
              </li>
            ))}
          </ul>
        </Roving>
        <label>
          Find a satellite{" "}
          <input
            type="search"
            value={wanted.value}
            placeholder={satellites[0]}
            onInput={({ currentTarget }) => {
              wanted.value = currentTarget.value;
            }}
          />
        </label>
        <p class="quiet" role="status">
          {word === ""
            ? ""
            : `${found.length.toLocaleString("en")} found${found.length > FOUND ? `, the first ${FOUND} of them here` : ""}`}
        </p>
        <Roving label="Satellites found">
          <ul>
            {found.slice(0, FOUND).map(({ name, node }) => (
              <li key={node}>
                <Face orbits={orbits} node={node} name={name} />
              </li>
            ))}
          </ul>
        </Roving>
      </details>
    </div>
  );
}

function Face({ orbits, node, name }: { orbits: Orbits; node: number; name: string }) {
  const place = orbits.placeOf(node);
  const height = node < orbits.sky.satellites.length ? `, ${Math.round(place.height / 1000)} km high` : "";
  return (
    <>
      <button type="button" class="plain" onClick={() => orbits.face(node)}>
        <Name name={name} />
      </button>{" "}
      <span class="quiet">
        {placeInWords(place)}
        {height}
      </span>
    </>
  );
}
