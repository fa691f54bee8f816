/** The table by variant, and the differences of runs of the same seed. */

import { useSignal } from "@preact/signals";
import { Name } from "../app/name.tsx";
import { differences, type Gap } from "./answer.ts";
import type { Comparison } from "./comparison.ts";
import type { Interval } from "./interval.ts";
import { Mark } from "./marks.tsx";
import { type Measure, show } from "./measures.ts";

export function Table({ comparison, planned }: { comparison: Comparison; planned: number }) {
  const { contenders, columns } = comparison;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keyboard
    <section class="wide" tabIndex={0} aria-label="Table by variant">
      <table>
        <caption class="unseen">Means by variant with their 95 % intervals</caption>
        <thead>
          <tr>
            <th scope="col">variant</th>
            {columns.map(({ title, about }) => (
              <th scope="col" class="n" title={about} key={title}>
                {title.toLowerCase().replace("rtt", "RTT").replace("jain", "Jain")}
              </th>
            ))}
            <th scope="col" class="n">
              runs
            </th>
          </tr>
        </thead>
        <tbody>
          {contenders.map((contender, at) => (
            <tr key={contender.name}>
              <th scope="row">
                <Mark index={at} /> <Name name={contender.name} />
              </th>
              {columns.map((measure) => (
                <td class="n" key={measure.title}>
                  {cell(comparison, at, measure)}
                </td>
              ))}
              <td class="n">{runs(comparison, at, planned)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/**
 * Formats a mean with its interval in the unit of its column. If not all runs have a value, the number of those that do
 * follows.
 */
function cell(comparison: Comparison, at: number, measure: Measure): string {
  const contender = comparison.contenders[at];
  if (!contender) {
    return "";
  }
  const largest = Math.max(...comparison.contenders.map((one) => comparison.interval(one, measure).mean || 0));
  const interval = comparison.interval(contender, measure);
  const all = contender.outcomes.length;
  const some = interval.count > 0 && interval.count < all ? ` (${interval.count} of ${all})` : "";
  return show(measure, interval, largest) + some;
}

function runs(comparison: Comparison, at: number, planned: number): string {
  const contender = comparison.contenders[at];
  if (!contender) {
    return "";
  }
  const count = contender.outcomes.length;
  if (!contender.isRandom) {
    return "1, not random";
  }
  return count < planned ? `${count} of ${planned}` : `${count}${comparison.isFixed(contender) ? ", identical" : ""}`;
}

function intervalOf({ difference, half_width, pairs }: Gap): Interval {
  return { mean: difference, halfWidth: half_width ?? Number.NaN, count: pairs };
}

export function Differences({ comparison }: { comparison: Comparison }) {
  const measures = comparison.columns;
  const title = useSignal(measures[0]?.title ?? "");
  const measure = measures.find((one) => one.title === title.value) ?? measures[0];
  const [first, ...others] = comparison.contenders;
  if (!measure || !first || others.length === 0) {
    return null;
  }
  const found = differences(comparison, measure, first)?.rows ?? [];
  const base = comparison.values(first, measure);
  const rows = others.map((other, at) => {
    const pairs = [...comparison.values(other, measure)].flatMap(([seed, value]): [number, number][] => {
      const against = base.get(seed);
      return against === undefined ? [] : [[seed, value - against]];
    });
    return { name: other.name, at: at + 1, pairs, difference: found.find(({ name }) => name === other.name) };
  });
  return (
    <section class="differences" aria-labelledby="differences">
      <header>
        <h2 id="differences">
          Differences from <Name name={first.name} /> by seed
        </h2>
        <select
          aria-label="Metric"
          value={measure.title}
          onChange={(event) => (title.value = event.currentTarget.value)}
        >
          {measures.map((one) => (
            <option key={one.title}>{one.title}</option>
          ))}
        </select>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keyboard */}
      <section class="wide" tabIndex={0} aria-label="Differences by seed">
        <table aria-label={`Differences from ${first.name} by seed`}>
          <thead>
            <tr>
              <th scope="col">variant</th>
              <th scope="col" class="n">
                pairs
              </th>
              <th scope="col" class="n">
                mean difference
              </th>
              <th scope="col">meaning</th>
              <th scope="col">each pair</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, at, pairs, difference }) => (
              <tr key={name}>
                <th scope="row">
                  <Mark index={at} /> <Name name={name} />
                </th>
                <td class="n">{pairs.length}</td>
                <td class="n">{difference?.gap ? show(measure, intervalOf(difference.gap)) : "–"}</td>
                <td>{difference?.words ?? "–"}</td>
                <td>
                  <Strip pairs={pairs} at={at} most={extent(rows)} measure={measure} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function extent(rows: { pairs: [number, number][] }[]): number {
  return Math.max(...rows.flatMap(({ pairs }) => pairs.map(([, value]) => Math.abs(value))), 0) || 1;
}

/** The difference of each seed as a dot, right of the line if the variant has the higher value. */
function Strip({
  pairs,
  at,
  most,
  measure,
}: {
  pairs: [number, number][];
  at: number;
  most: number;
  measure: Measure;
}) {
  const says = pairs
    .map(([seed, value]) => `seed ${seed}: ${show(measure, { mean: value, halfWidth: Number.NaN, count: 1 })}`)
    .join(", ");
  return (
    <svg class="strip" viewBox="0 0 160 16" width="160" height="16" role="img" aria-label={says}>
      <line class="axis" x1="80" x2="80" y1="0" y2="16" />
      <g class={`s${(at % 8) + 1}`}>
        {pairs.map(([seed, value]) => (
          <circle key={seed} class="each" cx={80 + (value / most) * 74} cy="8" r="3" />
        ))}
      </g>
    </svg>
  );
}
