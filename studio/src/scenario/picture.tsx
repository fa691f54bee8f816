/** A small drawing of a scenario, made from its own numbers. */

import { useMemo } from "preact/hooks";
import { FAR, isOverhead, light, seconds } from "./delay.ts";
import { tables } from "./network.ts";
import { isTable } from "./path.ts";
import { Dumbbell, Row, Satellite, Sensors, Star, Swarm } from "./sketches.tsx";
import { read } from "./values.ts";

const WIDTH = 200;
const HEIGHT = 88;
type Values = Record<string, unknown>;

/** The drawing of a scenario's text. The sentence next to it describes its content. */
export function Picture({ toml }: { toml: string }) {
  const drawn = useMemo(() => picture(read(toml) ?? {}), [toml]);
  return (
    <svg class="picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {drawn}
    </svg>
  );
}

function picture(scenario: Values) {
  const { constellation, topology, nodes } = scenario;
  if (isTable(constellation)) {
    return <Shells shells={tables(constellation.shells)} />;
  }
  if (isTable(topology)) {
    return generated(topology);
  }
  const radios = tables(nodes);
  if (radios.length > 0) {
    return <Row count={radios.length} />;
  }
  return <Chains links={tables(scenario.links)} />;
}

function generated(topology: Values) {
  const number = (key: string, otherwise: number) =>
    typeof topology[key] === "number" ? (topology[key] as number) : otherwise;
  switch (topology.kind) {
    case "swarm":
      return <Swarm count={number("nodes", 20)} power={topology.medium} />;
    case "dumbbell":
      return <Dumbbell left={number("pairs", 4)} />;
    case "satellite":
      return <Dumbbell left={number("pairs", 1)} ground={isTable(topology.terrestrial) ? 3 : 0} isOverhead />;
    case "iot":
      return <Sensors sinks={Math.min(5, number("sinks", 3))} />;
    case "star":
      return <Star count={number("leaves", 6)} />;
    case "chain":
      return <Row count={number("hops", 3) + 1} />;
    default:
      return <Way delay={seconds(topology.delay)} isOver={isOverhead(topology.delay)} y={60} />;
  }
}

/** Links one after another, or side by side if they share no node. */
function Chains({ links }: { links: Values[] }) {
  const ends = links.map(({ between }) => (Array.isArray(between) ? between.map(String) : []));
  const isRow = ends.every(([from], index) => index === 0 || from === ends[index - 1]?.[1]);
  if (!isRow) {
    const shown = links.slice(0, 4);
    return shown.map((link, index) => (
      <Way
        key={index}
        delay={seconds(link.delay)}
        isOver={isOverhead(link.delay)}
        y={(HEIGHT * (index + 1)) / (shown.length + 1)}
      />
    ));
  }
  const longest = Math.max(...links.map(({ delay }) => seconds(delay)), 0);
  const weights = links.map(({ delay }) => (seconds(delay) === longest ? 3 : 1));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  let at = 20;
  const hasArc = links.some(({ delay }) => isOverhead(delay));
  return (
    <g>
      {hasArc && longest < FAR && <path class="ground" d={`M0 78 Q100 62 200 78`} />}
      {links.map((link, index) => {
        const from = at;
        at += ((WIDTH - 40) * (weights[index] ?? 1)) / all;
        return (
          <Way
            key={index}
            delay={seconds(link.delay)}
            isOver={isOverhead(link.delay)}
            y={longest < FAR && hasArc ? 66 : 50}
            from={from}
            to={at}
          />
        );
      })}
    </g>
  );
}

interface WayProps {
  delay: number;
  isOver: boolean;
  y: number;
  from?: number;
  to?: number;
}

/** A link: over a satellite if the propagation time is long, to another world if it is longer still. */
function Way({ delay, isOver, y, from = 24, to = WIDTH - 24 }: WayProps) {
  const middle = (from + to) / 2;
  const height = Math.min(y - 12, 12 + 26 * Math.log10(1 + delay * 60));
  if (delay >= FAR) {
    const radius = delay > 60 ? 10 : 7;
    return (
      <g>
        <circle class="earth" cx={from} cy={y} r={16} />
        <path class="link long" d={`M${from + 16} ${y} H${to - radius}`} />
        <circle class={delay > 60 ? "mars" : "moon"} cx={to} cy={y - 0} r={radius} />
        <circle class="packet" cx={middle} cy={y} r={2.5} />
      </g>
    );
  }
  return (
    <g>
      {isOver ? (
        <>
          <path class="link long" d={`M${from} ${y} L${middle} ${y - height} L${to} ${y}`} />
          <Satellite x={middle} y={y - height} />
        </>
      ) : (
        <path class="link" d={`M${from} ${y} H${to}`} />
      )}
      <circle class="node" cx={from} cy={y} r={4} />
      <circle class="node" cx={to} cy={y} r={4} />
    </g>
  );
}

/** The Earth with planes of its satellites, to scale in height and inclination. */
function Shells({ shells }: { shells: Values[] }) {
  const earth = 22;
  return (
    <g>
      <circle class="earth" cx={100} cy={44} r={earth} />
      {shells.map((shell, index) => {
        const height = light(String(shell.height)) * 299_792.458;
        const radius = earth * (1 + 0.22 * Math.log2(1 + height / 300));
        const inclination = Number.parseFloat(String(shell.inclination)) || 0;
        const planes = Math.min(8, Number(shell.planes) || 1);
        return <Planes key={index} radius={Math.min(radius, 92)} inclination={inclination} planes={planes} />;
      })}
    </g>
  );
}

function Planes({ radius, inclination, planes }: { radius: number; inclination: number; planes: number }) {
  const flat = radius > 43 ? 43 / radius : 1;
  return Array.from({ length: planes }, (_, plane) => {
    const phase = (plane / planes) * Math.PI;
    const width = radius * Math.max(0.12, Math.abs(Math.cos(phase + 0.3)));
    const tilt = planes === 1 ? 12 : 90 - inclination * Math.sign(Math.cos(phase + 0.3));
    const dots = [0, 1, 2].map((dot) => (dot / 3) * 2 * Math.PI + phase * 2);
    return (
      <g key={plane} transform={`translate(100 44) scale(1 ${flat}) rotate(${planes === 1 ? 0 : -tilt / 2})`}>
        <ellipse class="orbit" rx={planes === 1 ? radius : width} ry={planes === 1 ? radius * 0.3 : radius} />
        {dots.map((angle) => (
          <circle
            key={angle}
            class="dot"
            cx={(planes === 1 ? radius : width) * Math.cos(angle)}
            cy={(planes === 1 ? radius * 0.3 : radius) * Math.sin(angle)}
            r={1.8}
          />
        ))}
      </g>
    );
  });
}
