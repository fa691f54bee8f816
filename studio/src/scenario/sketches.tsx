/** Drawings of generated networks. */

import { isTable } from "./path.ts";

export function Satellite({ x, y }: { x: number; y: number }) {
  return (
    <g class="satellite">
      <rect x={x - 3} y={y - 3} width={6} height={6} />
      <path d={`M${x - 10} ${y} H${x - 4} M${x + 4} ${y} H${x + 10}`} />
    </g>
  );
}

/** Returns pseudo-random positions, the same at every call. */
function scattered(count: number): [x: number, y: number][] {
  return Array.from({ length: count }, (_, index) => {
    const at = (step: number) => ((index + 1) * step) % 1;
    return [20 + 160 * at(0.754877666), 10 + 68 * at(0.569840291)];
  });
}

export function Swarm({ count, power }: { count: number; power: unknown }) {
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

export function Dumbbell({
  left,
  ground = 0,
  isOverhead = false,
}: {
  left: number;
  ground?: number;
  isOverhead?: boolean;
}) {
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

export function Sensors({ sinks }: { sinks: number }) {
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

export function Star({ count }: { count: number }) {
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

export function Row({ count }: { count: number }) {
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
