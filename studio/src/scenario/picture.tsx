/** A small picture of a scenario, drawn from its own numbers. */

import { useMemo } from "preact/hooks";
import { tables } from "./network.ts";
import { isTable } from "./schema.ts";
import { amount, scaleOf } from "./units.ts";
import { read } from "./values.ts";

const WIDTH = 200;
const HEIGHT = 88;
type Values = Record<string, unknown>;

/** The picture of a scenario's text. What it shows is said by the sentence beside it. */
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

/** A delay in seconds, also of light over a distance or an orbit. */
export function seconds(delay: unknown): number {
  const scale = scaleOf("Duration", delay);
  if (typeof delay === "string" && scale) {
    return amount(scale, delay) ?? 0;
  }
  if (!isTable(delay)) {
    return 0;
  }
  if ("forward" in delay) {
    return seconds(delay.forward);
  }
  const orbits: Record<string, number> = { geo: 0.25, meo: 0.07, "leo-550": 0.008 };
  return typeof delay.distance === "string" ? light(delay.distance) : (orbits[String(delay.orbit)] ?? 0.02);
}

function light(distance: string): number {
  const [, number, unit] = /^([\d.]+)\s*(km|m|au)$/.exec(distance) ?? [];
  const metres = { km: 1e3, m: 1, au: 1.495978707e11 }[unit ?? "m"] ?? 1;
  return (Number(number) * metres) / 299_792_458;
}

const FAR = 0.9;
const ORBIT = 0.1;

/** Whether a link goes over a satellite: it says so, or it is as long. */
function isOverhead(delay: unknown): boolean {
  return (isTable(delay) && "orbit" in delay) || seconds(delay) >= ORBIT;
}

/** Links one after another, or side by side where they share no node. */
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

/** A link: over a satellite where light is long on its way, to another world where it is longer still. */
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

function Satellite({ x, y }: { x: number; y: number }) {
  return (
    <g class="satellite">
      <rect x={x - 3} y={y - 3} width={6} height={6} />
      <path d={`M${x - 10} ${y} H${x - 4} M${x + 4} ${y} H${x + 10}`} />
    </g>
  );
}

/** The Earth with planes of its satellites, as high and as inclined as they are. */
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

/** Places that look drawn at random and are always the same. */
function scattered(count: number): [x: number, y: number][] {
  return Array.from({ length: count }, (_, index) => {
    const at = (step: number) => ((index + 1) * step) % 1;
    return [20 + 160 * at(0.754877666), 10 + 68 * at(0.569840291)];
  });
}

function Swarm({ count, power }: { count: number; power: unknown }) {
  const places = scattered(Math.min(40, count));
  const strength = isTable(power) ? Number.parseFloat(String(power.power)) : 30;
  const reach = strength < 20 ? 15 : 30;
  const pairs = places.flatMap((a, index) => places.slice(index + 1).map((b) => [a, b] as const));
  return (
    <g>
      {pairs
        .filter(([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) < reach)
        .map(([a, b]) => (
          <path key={`${a}${b}`} class="radio" d={`M${a[0]} ${a[1]} L${b[0]} ${b[1]}`} />
        ))}
      {places.map(([x, y]) => (
        <circle key={`${x}`} class="node" cx={x} cy={y} r={2.5} />
      ))}
    </g>
  );
}

function Dumbbell({ left, ground = 0, isOverhead = false }: { left: number; ground?: number; isOverhead?: boolean }) {
  const count = Math.min(6, left + ground);
  const ys = Array.from({ length: count }, (_, index) => 14 + (60 * (index + 0.5)) / count);
  return (
    <g>
      {ys.map((y) => (
        <path key={y} class="link" d={`M24 ${y} L72 44 M128 44 L176 ${y}`} />
      ))}
      {isOverhead ? (
        <>
          <path class="link long" d="M72 44 L100 12 L128 44" />
          <Satellite x={100} y={12} />
        </>
      ) : (
        <path class="link bottleneck" d="M72 44 H128" />
      )}
      {[...ys.map((y) => [24, y]), ...ys.map((y) => [176, y])].map(([x, y]) => (
        <circle key={`${x} ${y}`} class="node" cx={x} cy={y} r={3} />
      ))}
      <circle class="router" cx={72} cy={44} r={4.5} />
      <circle class="router" cx={128} cy={44} r={4.5} />
    </g>
  );
}

function Sensors({ sinks }: { sinks: number }) {
  const ys = Array.from({ length: sinks }, (_, index) => 12 + (64 * (index + 0.5)) / sinks);
  return (
    <g>
      {ys.flatMap((y) =>
        [-5, 0, 5].map((off) => <path key={`${y}${off}`} class="radio" d={`M18 ${y + off} L52 ${y}`} />),
      )}
      {ys.map((y) => (
        <path key={y} class="link" d={`M52 ${y} L92 56`} />
      ))}
      <path class="link long" d="M92 56 L130 14 L172 56" />
      <Satellite x={130} y={14} />
      {ys.flatMap((y) =>
        [-5, 0, 5].map((off) => <circle key={`${y}${off}`} class="packet" cx={18} cy={y + off} r={1.6} />),
      )}
      {ys.map((y) => (
        <circle key={y} class="node" cx={52} cy={y} r={3} />
      ))}
      <circle class="router" cx={92} cy={56} r={4.5} />
      <circle class="node" cx={172} cy={56} r={4} />
    </g>
  );
}

function Star({ count }: { count: number }) {
  const ends = Array.from({ length: Math.min(10, count) }, (_, index) => {
    const angle = (index / Math.min(10, count)) * 2 * Math.PI;
    return [100 + 60 * Math.cos(angle), 44 + 32 * Math.sin(angle)] as const;
  });
  return (
    <g>
      {ends.map(([x, y]) => (
        <path key={`${x}`} class="link" d={`M100 44 L${x} ${y}`} />
      ))}
      {ends.map(([x, y]) => (
        <circle key={`${x}`} class="node" cx={x} cy={y} r={3} />
      ))}
      <circle class="router" cx={100} cy={44} r={4.5} />
    </g>
  );
}

function Row({ count }: { count: number }) {
  const xs = Array.from({ length: Math.min(8, count) }, (_, index) => 24 + (152 * index) / (Math.min(8, count) - 1));
  return (
    <g>
      <path class="radio" d={`M24 44 H176`} />
      {xs.map((x) => (
        <g key={x}>
          <circle class="reach" cx={x} cy={44} r={20} />
          <circle class="node" cx={x} cy={44} r={4} />
        </g>
      ))}
    </g>
  );
}
