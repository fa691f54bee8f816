/** The charts of a comparison beside those of its measures: what `lightlag.report.comparison_charts` shows. */

import { number } from "../app/numbers.ts";
import {
  type Axis,
  type Bar,
  type Chart,
  type Line,
  type LinePanel,
  listed,
  type Panel,
  rounded,
  thinnedRows,
  unitOf,
  usualTop,
} from "../save/report/charts.ts";
import { binWidth } from "../save/report/goodput.ts";
import type { Comparison, Contender } from "./comparison.ts";
import { MEASURES, show } from "./measures.ts";
import { type Outcome, UDP } from "./outcome.ts";
import { type Interval, meanInterval } from "./student.ts";

/** Points of all windows together, and the fewest of one. */
const POINTS = 24_000;
const FEWEST = 40;
/** Steps of a distribution. */
const STEPS = 400;
/** Flows by round-trip time of which a line joins the dots. */
const JOINED = 30;

const CAPTIONS = {
  shares:
    "Goodput of a flow of each algorithm where several compete in one run; means with 95 % intervals (Student t).",
  goodput:
    "Goodput of all flows over time, payload counted as it arrives: the mean of the runs still going, its 95 % interval as a " +
    "band, which ends at zero and at the rate of the slowest link on their way, headers included: the dotted line.",
  completion: "Share of the flows of all runs that had finished, against the time since their start.",
  rtt: "Goodput of each flow against its smallest round-trip time in any run; means with 95 % intervals.",
};

/** All charts that a comparison has, with the windows of the runs of one seed. */
export function charts(comparison: Comparison, seed: number): Chart[] {
  const found: (Chart | undefined)[] = [
    chart("shares", "Competing algorithms", CAPTIONS.shares, shares(comparison)),
    chart("goodput", "Goodput over time", CAPTIONS.goodput, goodput(comparison), "time"),
    chart(
      "cwnd",
      "Congestion windows over time",
      `Congestion windows over time with seed ${seed}.`,
      windows(comparison, seed),
      "time",
    ),
    chart("completion", "Completion times", CAPTIONS.completion, completion(comparison)),
    chart("rtt", "Goodput against round-trip time", CAPTIONS.rtt, byRoundTrip(comparison)),
  ];
  return found.filter((one) => one !== undefined);
}

function chart(name: string, title: string, caption: string, panels: Panel[], group = ""): Chart | undefined {
  return panels.length > 0 ? { name, title, caption, panels, group, panelWidth: 26 } : undefined;
}

function panel(
  title: string,
  says: string,
  x: Axis,
  y: Axis,
  series: Line[],
  more: Partial<Pick<LinePanel, "limits" | "empty" | "height">> = {},
): LinePanel {
  return { kind: "line", title, says, x, y, series, limits: [], empty: "nothing to show", height: 220, ...more };
}

/** The mean goodput of a flow of each algorithm that competes with others in a run. */
export interface Share {
  variant: string;
  algorithm: string;
  interval: Interval;
}

export function sharesOf(comparison: Comparison): Share[] {
  return comparison.contenders.flatMap((contender) => {
    const { name: variant, outcomes } = contender;
    const algorithms = new Set(outcomes[0]?.flows.map(({ congestion }) => congestion));
    algorithms.delete(UDP);
    return algorithms.size < 2
      ? []
      : [...algorithms].map((algorithm): Share => {
          const means = outcomes.flatMap(({ flows }) => {
            const rates = flows
              .filter(({ congestion }) => congestion === algorithm)
              .map(({ goodputBps }) => goodputBps);
            return rates.length > 0 ? [sum(rates) / rates.length] : [];
          });
          const interval = meanInterval(means);
          const halfWidth = comparison.isFixed(contender) ? Number.NaN : interval.halfWidth;
          return { variant, algorithm, interval: { ...interval, halfWidth } };
        });
  });
}

function shares(comparison: Comparison): Panel[] {
  const found = sharesOf(comparison);
  if (found.length === 0) {
    return [];
  }
  const [goodput] = MEASURES;
  const [factor, unit] = unitOf(Math.max(...found.map(({ interval }) => interval.mean)), "bit/s");
  const named = found.map(({ variant, algorithm, interval }) => ({ name: `${algorithm} in ${variant}`, interval }));
  const rows = named.map(({ name, interval: { mean, halfWidth } }, at): Bar => {
    const ends = Number.isNaN(halfWidth)
      ? {}
      : { lo: rounded((mean - halfWidth) / factor, 5) ?? 0, hi: rounded((mean + halfWidth) / factor, 5) ?? 0 };
    return { name, at, mean: rounded(mean / factor, 5) ?? 0, ...ends, values: [] };
  });
  const said = named.map(({ name, interval }) => `${name} ${show(goodput, interval)}`);
  const title = "Goodput of a flow";
  return [{ kind: "bars", title, says: `${title}: ${said.join(", ")}.`, x: { label: unit }, rows }];
}

/** The mean of the runs that still go on; a line ends where less than half of a variant's runs are left. */
export function goodput({ contenders }: Comparison): LinePanel[] {
  const traced = contenders.flatMap(({ outcomes }) => outcomes.filter(({ curves }) => curves.arrived !== null));
  if (traced.length === 0) {
    return [];
  }
  const width = binWidth(2 * Math.max(0, ...traced.map(({ simulatedS }) => simulatedS)));
  const curves = contenders.map(({ name, outcomes }) => ({ name, curve: overTime(outcomes, width) }));
  const [factor, unit] = unitOf(Math.max(0, ...curves.flatMap(({ curve }) => curve.map(({ mean }) => mean))), "bit/s");
  const rates = new Set(contenders.flatMap(({ outcomes }) => outcomes.map(({ capacityBps }) => capacityBps)));
  const [only = null] = rates.size === 1 ? rates : [];
  const most = only === null ? Number.POSITIVE_INFINITY : only / factor;
  const series = curves.map(({ name, curve }, at) => lineOverTime(name, at, curve, width, factor, most));
  const limits = only === null ? [] : [{ name: "link", y: rounded(most, 5) ?? 0 }];
  const peaks = curves.flatMap(({ name, curve }) => {
    const peak = Math.max(...curve.map(({ mean }) => mean / factor));
    return curve.length > 0 ? [`${name} at most ${number(peak, 3)} ${unit}`] : [];
  });
  const end = Math.max(0, ...curves.map(({ curve }) => curve.length)) * width || 1;
  const x = { label: "time (s)", unit: "s", min: 0, max: end };
  return [panel(`Goodput (${unit})`, `Goodput over time: ${peaks.join(", ")}.`, x, { min: 0 }, series, { limits })];
}

/** The goodput in each interval, over the runs that last to its end. */
function overTime(outcomes: readonly Outcome[], width: number): Interval[] {
  const curves = outcomes.flatMap(({ curves: { arrived }, simulatedS }) => {
    if (!arrived) {
      return [];
    }
    const whole = Math.floor(simulatedS / width + 1e-9);
    const levels = Array.from({ length: whole + 1 }, (_, at) => levelAt(arrived, simulatedS, at * width));
    return [levels.slice(1).map((level, at) => ((level - (levels[at] as number)) * 8) / width)];
  });
  const found: Interval[] = [];
  for (let at = 0; ; at++) {
    const values = curves.flatMap((curve) => curve[at] ?? []);
    if (values.length === 0 || 2 * values.length < curves.length) {
      return found;
    }
    found.push(meanInterval(values));
  }
}

/** Between the equal steps of a curve, by straight lines. */
function levelAt(levels: Float64Array, seconds: number, time: number): number {
  const last = levels.length - 1;
  const place = seconds ? Math.min((time / seconds) * last, last) : 0;
  const at = Math.min(Math.floor(place), last - 1);
  const low = levels[at] ?? 0;
  return low + (place - at) * ((levels[at + 1] ?? 0) - low);
}

/** The mean and its interval, which ends where goodput does: at zero and at the rate of the link. */
function lineOverTime(
  name: string,
  at: number,
  curve: readonly Interval[],
  width: number,
  factor: number,
  most: number,
): Line {
  const means = curve.map(({ mean }) => mean / factor);
  const halves = curve.map(({ halfWidth }) => (Number.isNaN(halfWidth) ? 0 : halfWidth / factor));
  const x = means.map((_, step) => rounded((step + 0.5) * width, 6) ?? 0);
  const line = { name, at, x, y: means.map((mean) => rounded(mean)) };
  if (halves.every((half) => half === 0)) {
    return line;
  }
  const lo = means.map((mean, step) => rounded(Math.max(mean - (halves[step] ?? 0), 0)));
  const hi = means.map((mean, step) => rounded(Math.max(Math.min(mean + (halves[step] ?? 0), most), mean)));
  return { ...line, lo, hi };
}

/** The run of a contender with this seed; the one run of a contender without chance stands for that of any seed. */
export function runOf({ outcomes, isRandom }: Contender, seed: number): Outcome | undefined {
  return isRandom ? outcomes.find((outcome) => outcome.seed === seed) : outcomes[0];
}

/** Congestion windows with one seed: a panel for each variant. */
export function windows({ contenders }: Comparison, seed: number): LinePanel[] {
  const runs = contenders.map((contender) => runOf(contender, seed));
  const count = runs.reduce((all, run) => all + (run?.curves.windows.length ?? 0), 0);
  if (count === 0) {
    return [];
  }
  const most = Math.max(FEWEST, Math.floor(POINTS / count));
  return contenders.map(({ name, outcomes }, at) => {
    const run = runs[at];
    const series = run ? windowLines(run, at, most) : [];
    // Of the curves as they are: those of the chart are rounded.
    const highest = (run?.curves.windows ?? []).reduce(
      (most, { y }) => y.reduce((peak, value) => (Number.isNaN(value) ? peak : Math.max(peak, value)), most),
      0,
    );
    const said = run?.curves.windows.length ? `, seed ${run.seed}` : "";
    const top = usualTop(series);
    const above = top === undefined ? "" : `, up to ${Math.round(highest).toLocaleString("en")}`;
    const end = Math.max(0, ...outcomes.map(({ simulatedS }) => simulatedS)) || 1;
    return panel(
      `${name} (segments${said}${above})`,
      `Congestion window of ${name}${said}: at most ${number(highest, 4)} segments.`,
      { label: "time (s)", unit: "s", min: 0, max: end },
      { min: 0, ...(top === undefined ? {} : { max: top }) },
      series,
      { empty: "no windows were recorded", height: 170 },
    );
  });
}

function windowLines({ flows, curves }: Outcome, at: number, most: number): Line[] {
  const algorithms = new Map(flows.map(({ name, congestion }) => [name, congestion]));
  const rivals = [...new Set(algorithms.values())];
  return curves.windows.map(({ flow, x, y }): Line => {
    const algorithm = algorithms.get(flow) ?? "";
    const kept = thinnedRows(x, y, most);
    const line: Line = {
      name: rivals.length === 1 ? flow : `${flow} (${algorithm})`,
      at: rivals.length === 1 ? at : rivals.indexOf(algorithm),
      x: kept.map((row) => rounded(x[row] ?? 0, 6) ?? 0),
      y: kept.map((row) => rounded(y[row] ?? Number.NaN)),
      step: 1,
      solid: 1,
    };
    return algorithms.size > 1 ? { ...line, thin: 1 } : line;
  });
}

/** The distribution of the flows' completion times over all runs; a curve below 1 has unfinished flows. */
export function completion({ contenders }: Comparison): LinePanel[] {
  const everyone = contenders.flatMap(({ outcomes }) => outcomes.flatMap(({ flows }) => flows));
  const finite = new Set(everyone.flatMap(({ name, completionS }) => (completionS === null ? [] : [name])));
  if (finite.size === 0) {
    return [];
  }
  const said: string[] = [];
  let latest = 0;
  const series = contenders.map(({ name, outcomes }, at): Line => {
    const flows = outcomes.flatMap((outcome) => outcome.flows.filter((flow) => finite.has(flow.name)));
    const times = flows.flatMap(({ completionS }) => completionS ?? []).sort((a, b) => a - b);
    const last = times.at(-1);
    if (last !== undefined) {
      latest = Math.max(latest, last);
      const half = number(times[Math.floor((times.length - 1) / 2)] ?? 0, 4);
      said.push(`${name} half by ${half} s, ${times.length} of ${flows.length} at all`);
    }
    const step = Math.max(1, Math.ceil(times.length / STEPS));
    const kept = times.flatMap((time, row) =>
      (row + 1) % step === 0 ? [{ time, share: (row + 1) / flows.length }] : [],
    );
    const x = [0, ...kept.map(({ time }) => rounded(time, 6) ?? 0)];
    return { name, at, x, y: [0, ...kept.map(({ share }) => rounded(share))], step: 1 };
  });
  const x = { label: "completion time (s)", unit: "s", min: 0, max: 1.05 * latest || 1 };
  return [panel("Share of the flows", `Finished flows: ${said.join("; ")}.`, x, { min: 0, max: 1.02 }, series)];
}

/** The smallest round trip of each flow in any run: some run finds the queues empty, not every one. */
function baseRoundTrips(contenders: readonly Contender[]): Map<string, number> {
  const base = new Map<string, number>();
  for (const { name, minRttS } of contenders.flatMap(({ outcomes }) => outcomes.flatMap(({ flows }) => flows))) {
    if (minRttS) {
      base.set(name, Math.min(base.get(name) ?? minRttS, minRttS));
    }
  }
  return base;
}

/** Goodput of each flow against its base round trip, where these differ. */
export function byRoundTrip({ contenders }: Comparison): LinePanel[] {
  const base = baseRoundTrips(contenders);
  const trips = [...base.values()];
  if (trips.length < 2 || Math.max(...trips) <= 1.2 * Math.min(...trips)) {
    return [];
  }
  const series = goodputByRoundTrip(contenders, base);
  const means = series.flatMap(({ rows }) => rows.map(({ interval }) => interval.mean));
  const [factor, unit] = unitOf(Math.max(0, ...means), "bit/s");
  const said: string[] = [];
  const lines = series.map(({ name, rows }, at): Line => {
    const mean = rows.map(({ interval }) => interval.mean / factor);
    const half = rows.map(({ interval }) => (interval.halfWidth || 0) / factor);
    const x = rows.map(({ trip }) => rounded(trip * 1e3, 5) ?? 0);
    const ends = (row: number) => `${number(mean.at(row) ?? 0, 3)} ${unit} at ${x.at(row)} ms`;
    said.push(`${name} ${ends(0)}, ${ends(-1)}`);
    const line: Line = {
      name,
      at,
      x: x.map((trip) => rounded(trip, 6) ?? 0),
      y: mean.map((value) => rounded(value)),
      lo: mean.map((value, row) => rounded(value - (half[row] ?? 0))),
      hi: mean.map((value, row) => rounded(value + (half[row] ?? 0))),
      dots: 1,
      bars: 1,
    };
    return rows.length <= JOINED ? line : { ...line, line: 0 };
  });
  const x = { label: "base round-trip time of the flow (ms)", unit: "ms", min: 0 };
  const says = `Goodput against base round trip: ${listed(said)}.`;
  return [panel(`Goodput of a flow (${unit})`, says, x, { min: 0 }, lines)];
}

interface ByTrip {
  name: string;
  rows: { trip: number; interval: Interval }[];
}

function goodputByRoundTrip(contenders: readonly Contender[], base: ReadonlyMap<string, number>): ByTrip[] {
  const found = new Map<string, Map<string, number[]>>();
  for (const { name: variant, outcomes } of contenders) {
    for (const { flows } of outcomes) {
      const rivals = new Set(flows.map(({ congestion }) => congestion));
      rivals.delete(UDP);
      for (const { name, congestion, goodputBps } of flows.filter((flow) => base.has(flow.name))) {
        const label = rivals.size > 1 ? `${congestion} in ${variant}` : variant;
        const own = found.get(label) ?? new Map<string, number[]>();
        found.set(label, own.set(name, [...(own.get(name) ?? []), goodputBps]));
      }
    }
  }
  return [...found].map(([name, flows]) => {
    const rows = [...flows].map(([flow, values]) => ({ trip: base.get(flow) ?? 0, interval: meanInterval(values) }));
    return { name, rows: rows.sort((a, b) => a.trip - b.trip) };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
