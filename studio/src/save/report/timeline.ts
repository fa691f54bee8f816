/** The charts of a run over one axis of time, as `lightlag.report.timeline`: windows, round trips, goodput, queues, losses. */

import type { Table } from "../../engine/protocol.ts";
import type { WholeRun } from "../whole.ts";
import {
  type Axis,
  type Chart,
  type Line,
  type LinePanel,
  listed,
  type Panel,
  rounded,
  thinnedRows,
  unitOf,
  usualTop,
} from "./charts.ts";
import { binWidth, goodputs } from "./goodput.ts";
import { type Numbers, type Rows, states } from "./states.ts";
import { type FlowSummary, type LinkSummary, summaryOf } from "./summary.ts";

/** Flows and links that have lines of their own. */
const FLOWS = 8;
const LINKS = 4;
/** Points of all lines of a page together, about. */
const POINTS = 24_000;
/** Of losses over time. */
const BUCKETS = 400;
const HINT = "Lines are thinned to the least and greatest value of each short time; the tables have every row.";

/** The charts of what a run recorded. */
export function timeline(run: WholeRun): Chart[] {
  const { flows, links, simulated_s } = summaryOf(run);
  const axis: Axis = { label: "time (s)", unit: "s", min: 0, max: simulated_s || 1 };
  const traced = first(run, flows);
  const most = Math.max(120, Math.min(1200, Math.floor(POINTS / (4 * (traced.length || 1)))));
  const found: (Chart | undefined)[] = [];
  if (traced.length > 0) {
    found.push(
      windows(traced, axis, most),
      roundTrips(traced, axis, most),
      goodput(traced, flows, links, axis, simulated_s),
    );
  }
  found.push(queues(run, links, axis), losses(run, axis, simulated_s));
  if (traced.length > 0) {
    const about =
      "What a sender repairs: nothing (open), losses that were reported (recovery), those of a timeout (loss).";
    found.push(chart("states", "States", about, states(run, traced, axis, simulated_s)));
  }
  return found.filter((chart) => chart !== undefined);
}

function chart(name: string, title: string, caption: string, panel: Panel): Chart {
  return { name, title, caption, panels: [panel], group: "time", panelWidth: 60 };
}

function lines(title: string, says: string, x: Axis, series: Line[], more: Partial<LinePanel> = {}) {
  const usual = { y: { min: 0 }, limits: [], empty: "nothing to show", height: 220 };
  return { kind: "line", title, says, x, series, ...usual, ...more } satisfies Panel;
}

/** Rows of a table by the name in one of its columns. */
function split(
  table: Table | undefined,
  column: string,
  names: string[],
  also: (row: number) => boolean,
): Map<string, Rows> {
  const keys = table?.columns[column]?.values;
  const rows = new Map<string, number[]>();
  for (let row = 0; keys && row < keys.length; row++) {
    const name = names[keys[row] ?? -1];
    if (name !== undefined && also(row)) {
      const own = rows.get(name);
      if (own) {
        own.push(row);
      } else {
        rows.set(name, [row]);
      }
    }
  }
  const found = new Map<string, Rows>();
  for (const [name, own] of rows) {
    const of = (key: string) => own.map((row) => Number(table?.columns[key]?.values[row] ?? Number.NaN));
    found.set(name, { name, time: of("time_s"), of });
  }
  return found;
}

/** The trace of the first flows of TCP; where proxies split one, of the sender of its longest leg. */
function first(run: WholeRun, flows: FlowSummary[]): Rows[] {
  const { legs } = summaryOf(run);
  const table = run.tables.trace;
  const leg = table?.columns.leg?.values;
  const keys = table?.columns.flow?.values;
  const numbers = new Map(flows.map(({ name }) => [name, longest(legs.filter(({ flow }) => flow === name))]));
  const isOwn = (row: number) => !leg || leg[row] === (numbers.get(run.flows[keys?.[row] ?? -1] ?? "") ?? 1);
  const all = split(table, "flow", run.flows, isOwn);
  const named = flows.filter(({ congestion }) => congestion !== "udp").slice(0, FLOWS);
  return named.flatMap(({ name }) => all.get(name) ?? []);
}

function longest(legs: { leg: number; min_rtt_s: number | null }[]): number | undefined {
  return legs.toSorted((a, b) => (b.min_rtt_s ?? 0) - (a.min_rtt_s ?? 0))[0]?.leg;
}

function line(name: string, at: number, rows: Rows, column: string, most: number, factor = 1): Line {
  const values = rows.of(column);
  const kept = thinnedRows(rows.time, values, most);
  return {
    name,
    at,
    x: kept.map((row) => rounded(rows.time[row] ?? 0, 6) ?? 0),
    y: kept.map((row) => rounded((values[row] ?? Number.NaN) * factor)),
    step: 1,
    solid: 1,
  };
}

function known(values: Numbers): number[] {
  return Array.from(values).filter((value) => Number.isFinite(value));
}

const most = (values: number[]) => values.reduce((high, value) => Math.max(high, value), 0);
const whole = (value: number) => Math.round(value).toLocaleString("en");

function windows(flows: Rows[], axis: Axis, points: number): Chart {
  const isAlone = flows.length === 1;
  const series = flows.flatMap((rows, at) => {
    const own = line(isAlone ? "cwnd" : rows.name, at, rows, "cwnd_segments", points);
    const { solid: _, ...threshold } = line("ssthresh", 1, rows, "ssthresh_segments", points);
    return isAlone && known(rows.of("ssthresh_segments")).length > 0 ? [own, threshold] : [own];
  });
  const said = flows.map((rows) => {
    const values = known(rows.of("cwnd_segments"));
    return `${rows.name} at most ${whole(most(values))}, ${whole(values.at(-1) ?? 0)} at the end`;
  });
  const highest = (isThreshold: boolean) =>
    most(
      series
        .filter(({ name }) => (name === "ssthresh") === isThreshold)
        .flatMap(({ y }) => y.map((value) => value ?? 0)),
    );
  const usual = usualTop(series.filter(({ name }) => name !== "ssthresh"));
  const top = usual ?? (highest(true) > 1.5 * highest(false) ? 1.1 * highest(false) : undefined);
  const y = top === undefined ? { min: 0 } : { min: 0, max: top };
  const panel = lines("segments", `Congestion windows in segments: ${listed(said)}.`, axis, series, { y });
  const about = isAlone ? "and slow-start threshold" : "of the first flows";
  return chart("cwnd", "Congestion window", `Congestion window ${about}. ${HINT}`, panel);
}

function roundTrips(flows: Rows[], axis: Axis, points: number): Chart {
  const isAlone = flows.length === 1;
  const series = flows.flatMap((rows, at) =>
    isAlone
      ? [line("RTT", 5, rows, "rtt_s", points, 1e3), line("SRTT", 0, rows, "srtt_s", points, 1e3)]
      : [line(rows.name, at, rows, "srtt_s", points, 1e3)],
  );
  const said = flows.flatMap((rows) => {
    const values = known(rows.of("rtt_s")).map((value) => value * 1e3);
    const least = values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
    return values.length > 0 ? [`${rows.name} ${rounded(least)} to ${rounded(most(values))} ms`] : [];
  });
  const says = said.length > 0 ? `Round trips: ${listed(said)}.` : "No round trip was measured.";
  const panel = lines("ms", says, axis, series, { empty: "no round trip was measured" });
  const about = isAlone ? "Samples and SRTT" : "SRTT of the first flows";
  return chart("rtt", "Round trip", `${about}, as the sender measured them.`, panel);
}

function goodput(rows: Rows[], flows: FlowSummary[], links: LinkSummary[], axis: Axis, end: number): Chart {
  const width = binWidth(end);
  const all = rows.map(({ name, time, of }) => ({ name, rates: goodputs(time, of("arrived_bytes"), width, end) }));
  const highest = most(all.flatMap(({ rates }) => rates));
  const [factor, unit] = unitOf(highest, "bit/s");
  const series = all.map(({ name, rates }, at) => ({
    name: rows.length === 1 ? "goodput" : name,
    at,
    x: rates.map((_, step) => rounded((step + 0.5) * width, 6) ?? 0),
    y: rates.map((rate) => rounded(rate / factor)),
  }));
  const names = rows.map(({ name }) => name);
  const bottlenecks = new Set(flows.filter(({ name }) => names.includes(name)).map(({ bottleneck }) => bottleneck));
  const rates = new Set(links.filter(({ name }) => bottlenecks.has(name)).map(({ rate_bps }) => rate_bps));
  const [rate] = rates.size === 1 ? rates : [];
  const limits = rate && rate <= 2.5 * highest ? [{ name: "slowest link", y: rate / factor }] : [];
  const said = all.map(({ name, rates }) => `${name} at most ${rounded(most(rates) / factor, 3)} ${unit}`);
  const empty = "the run is shorter than an interval";
  const panel = lines(unit, `Goodput over time: ${listed(said)}.`, axis, series, { limits, empty });
  return chart("goodput", "Goodput", `Payload as it arrives, each byte once, in intervals of ${width} s.`, panel);
}

function queues(run: WholeRun, links: LinkSummary[], axis: Axis): Chart | undefined {
  const longest = links
    .toSorted((a, b) => b.max_queue_packets - a.max_queue_packets)
    .slice(0, LINKS)
    .filter(({ max_queue_packets }) => max_queue_packets > 0);
  const all = split(run.tables.queue, "link", run.links, () => true);
  const points = Math.max(200, Math.min(1200, Math.floor(POINTS / (4 * (longest.length || 1)))));
  const series = longest.flatMap(({ name }, at) => {
    const rows = all.get(name);
    return rows ? [line(name, at, rows, "packets", points)] : [];
  });
  if (series.length === 0) {
    return undefined;
  }
  const said = longest.map(
    ({ name, mean_queue_packets, max_queue_packets }) =>
      `${name} ${rounded(mean_queue_packets, 3)} on average, ${whole(max_queue_packets)} at most`,
  );
  const panel = lines("packets", `Packets that wait: ${listed(said)}.`, axis, series);
  const about = "Packets that wait at the links with the longest queues, without the one in transmission.";
  return chart("queue", "Queues", about, panel);
}

function losses(run: WholeRun, axis: Axis, end: number): Chart | undefined {
  const table = run.tables.drops;
  const { time_s: time, link, cause } = table?.columns ?? {};
  if (!table || table.rows === 0 || !time || !link || !cause) {
    return undefined;
  }
  const causes = Array.isArray(cause.names) ? cause.names : [];
  const width = (end || 1) / BUCKETS;
  const counts = new Map<string, Map<number, number>>();
  for (let row = 0; row < table.rows; row++) {
    const where = `${run.links[link.values[row] ?? -1] ?? ""}, ${causes[cause.values[row] ?? -1] ?? ""}`;
    const own = counts.get(where) ?? new Map<number, number>();
    const bucket = Math.floor((time.values[row] ?? 0) / width);
    counts.set(where, own.set(bucket, (own.get(bucket) ?? 0) + 1));
  }
  const sum = (own: Map<number, number>) => [...own.values()].reduce((all, count) => all + count, 0);
  const order = [...counts]
    .sort(([where, a], [other, b]) => sum(b) - sum(a) || (where < other ? -1 : 1))
    .slice(0, FLOWS);
  const series = order.map(([name, own], at): Line => {
    const buckets = [...own].sort(([a], [b]) => a - b);
    const x = buckets.map(([bucket]) => rounded((bucket + 0.5) * width, 6) ?? 0);
    return { name, at, x, y: buckets.map(([, count]) => count), stem: 1, solid: 1 };
  });
  const said = order.map(([name, own]) => `${whole(sum(own))} at ${name}`);
  const title = `packets in ${rounded(width, 2)} s`;
  const panel = lines(title, `Dropped packets: ${listed(said)}.`, axis, series, { height: 150 });
  return chart("losses", "Losses", "Packets that were dropped, by link and cause; ACKs count, too.", panel);
}
