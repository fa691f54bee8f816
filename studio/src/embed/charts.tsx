/** Measurements of a recording's flows over time, and as numbers at the time that is shown. */

import "../app/key.css";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Name } from "../app/name.tsx";
import { Scrolled, Table } from "../app/table.tsx";
import { isDark } from "../app/theme.ts";
import { axisOf, drawn, type Figure, roundEnds } from "../save/figure.ts";
import type { Playing } from "./playing.ts";
import { type ChartOf, type Samples, sampleAt } from "./recording.ts";

const HEIGHT = 210;
/** Number format: four significant digits, no exponent, large numbers as integers. A player has no engine for this. */
const NUMBERS = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 4,
  maximumFractionDigits: 0,
  roundingPriority: "morePrecision",
});

/** Approximate number of steps on the axis of values. */
const STEPS = 4;
/**
 * Fraction of the values that is always shown. If the maximum is more than three times as high as these, it is cut off.
 */
const MOST = 0.99;

export function Charts({ playing }: { playing: Playing }) {
  const host = useRef<HTMLDivElement>(null);
  const width = useSignal(320);
  useEffect(() => {
    const place = host.current;
    if (!place) {
      return;
    }
    const watch = new ResizeObserver(([entry]) => {
      width.value = Math.max(240, Math.floor(entry?.contentRect.width ?? 0));
    });
    watch.observe(place);
    return () => watch.disconnect();
  }, [width]);
  const { charts, ways, until } = playing.recording;
  return (
    <div class="charts" ref={host}>
      {charts.map((chart) => (
        <Chart key={chart.title} figure={figureOf(chart, ways, until)} playing={playing} width={width.value} />
      ))}
      <Numbers playing={playing} />
    </div>
  );
}

/** A chart; pointing at it moves the player to that time. The slider does the same for the keyboard. */
function Chart({ figure, playing, width }: { figure: Figure; playing: Playing; width: number }) {
  const { until } = playing.recording;
  const svg = drawn(figure, { width, height: HEIGHT, isDark: isDark(), hasLegend: false });
  const { left, right } = axisOf(width);
  const go = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left: from } = event.currentTarget.getBoundingClientRect();
    playing.seek(((event.clientX - from - left) / (right - left)) * until);
  };
  return (
    <div
      class="chart"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons > 0) {
          go(event);
        }
      }}
    >
      <img
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
        width={width}
        height={HEIGHT}
        draggable={false}
        alt={`${figure.title} in ${figure.unit} over time: ${figure.lines.length === 0 ? "no values" : "the table has the values at the time that is shown"}.`}
      />
      <Now playing={playing} left={left} right={right} />
    </div>
  );
}

/** The line at the time that is shown. */
function Now({ playing, left, right }: { playing: Playing; left: number; right: number }) {
  const at = left + (playing.now.value / playing.recording.until) * (right - left);
  return <div class="now" style={{ transform: `translateX(${at}px)` }} />;
}

export function figureOf({ title, unit, zero, series }: ChartOf, ways: { name: string }[], until: number): Figure {
  const lines = series
    .filter(({ values }) => values.some((value) => value !== null))
    .map(({ way, values, thin }) => ({
      name: ways[way]?.name ?? "",
      x: values.map((_, at) => (at / (values.length - 1)) * until),
      y: values.map((value) => value ?? Number.NaN),
      at: way,
      width: thin ? 0.8 : 1.8,
    }));
  const [bottom, top] = endsOf(
    lines.map(({ y }) => y),
    zero,
  );
  return { title, unit, xTitle: "time (s)", lines, ends: { from: 0, to: until }, bottom, top };
}

/**
 * Returns the lower and the upper end of the axis of values. A peak at the start of a run does not flatten the rest.
 */
function endsOf(series: number[][], zero: boolean): [bottom: number, top: number] {
  const known = series
    .flat()
    .filter((value) => !Number.isNaN(value))
    .sort((one, other) => one - other);
  const [least = 0, most = 1] = [known[0], known.at(-1)];
  const usual = known[Math.floor(known.length * MOST)] ?? most;
  const end = usual > 0 && usual * 3 < most ? usual * 1.2 : most;
  return roundEnds(zero ? 0 : least, end, STEPS);
}

/** The values of all flows at the time that is shown. */
function Numbers({ playing }: { playing: Playing }) {
  const { charts, ways, until } = playing.recording;
  const time_s = playing.now.value;
  const columns = charts.flatMap(({ short, unit, series }) => {
    const of = (isThin: boolean) => series.filter(({ thin = false }) => thin === isThin);
    return [
      { head: `${short} (${unit})`, series: of(false) },
      { head: `light (${unit})`, series: of(true) },
    ].filter((column) => column.series.length > 0);
  });
  const says = (values: Samples | undefined) => {
    const value = values && sampleAt(values, time_s, until);
    return value === null || value === undefined ? "–" : NUMBERS.format(value);
  };
  return (
    <Scrolled label="Values" kind="wide">
      <Table label="Values at the time that is shown" heads={["flow", ...columns.map(({ head }) => head)]}>
        {ways.map(({ name }, way) => (
          <tr key={`${way} ${name}`}>
            <th scope="row">
              <span class={`key s${(way % 8) + 1}`} />
              <Name name={name} />
            </th>
            {columns.map(({ head, series }) => (
              <td key={head}>{says(series.find((one) => one.way === way)?.values)}</td>
            ))}
          </tr>
        ))}
      </Table>
    </Scrolled>
  );
}
