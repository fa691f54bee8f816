/** Means as dots with their intervals, and each run as a small ring: a row for each variant. */

import { fitting } from "../app/fitting.ts";
import { general } from "../app/numbers.ts";
import { SERIES } from "../app/theme.ts";
import { ticks } from "../save/figure.ts";
import { unitOf } from "../save/report/charts.ts";
import type { Comparison } from "./comparison.ts";
import { type Measure, show } from "./measures.ts";

const WIDTH = 460;
const LEFT = 110;
/** Approximate width of a letter in a name, in pixels. */
const LETTER = 6.3;
const RIGHT = 16;
const TOP = 26;
const ROW = 26;
const BOTTOM = 30;

export function Dots({ comparison, measure }: { comparison: Comparison; measure: Measure }) {
  const rows = comparison.contenders.map((contender, at) => ({
    name: contender.name,
    at,
    interval: comparison.interval(contender, measure),
    values: [...comparison.values(contender, measure).values()],
  }));
  const highest = Math.max(
    0,
    ...rows.flatMap(({ interval: { mean, halfWidth }, values }) => [mean + (halfWidth || 0) || 0, ...values]),
  );
  const [factor, unit] = unitOf(Math.max(0, ...rows.map(({ interval }) => interval.mean || 0)), measure.unit);
  const top = highest > 0 ? (1.04 * highest) / factor : 1;
  const place = (value: number) => LEFT + (Math.max(value / factor, 0) / top) * (WIDTH - LEFT - RIGHT);
  const height = TOP + rows.length * ROW + BOTTOM;
  const says = rows.map(({ name, interval }) => `${name} ${show(measure, interval)}`).join(", ");
  return (
    <svg class="dots" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${measure.title}: ${says}.`}>
      <text class="head" x="4" y="15">
        {measure.title}
      </text>
      {ticks(0, top, 5).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={place(tick * factor)} x2={place(tick * factor)} y1={TOP} y2={height - BOTTOM} />
          <text class="tick" x={place(tick * factor)} y={height - BOTTOM + 14} text-anchor="middle">
            {general(tick, 4)}
          </text>
        </g>
      ))}
      <line class="axis" x1={LEFT} x2={WIDTH - RIGHT} y1={height - BOTTOM} y2={height - BOTTOM} />
      <text class="tick" x={WIDTH - RIGHT} y={height - 3} text-anchor="end">
        {unit}
      </text>
      {rows.map(({ name, at, interval, values }, row) => {
        const y = TOP + row * ROW + ROW / 2;
        const { mean, halfWidth, count } = interval;
        return (
          <g key={name} class={SERIES[at % SERIES.length]}>
            <text class="of" x={LEFT - 8} y={y + 4} text-anchor="end">
              {fitting(name, LEFT - 8, (some) => LETTER * some.length)}
              <title>{name}</title>
            </text>
            {values.length > 1 &&
              values.map((value, run) => <circle key={run} class="each" cx={place(value)} cy={y + 7} r="2" />)}
            {count > 0 && !Number.isNaN(halfWidth) && (
              <path class="ends" d={`M${place(mean - halfWidth)},${y - 6}v8m0,-4H${place(mean + halfWidth)}m0,-4v8`} />
            )}
            {count > 0 && <circle class="mean" cx={place(mean)} cy={y - 2} r="4.5" />}
          </g>
        );
      })}
    </svg>
  );
}
