/** The charts and the numbers of an embedded run. */

import type { Table } from "../engine/protocol.ts";
import type { Figure, FigureLine } from "../save/figure.ts";
import { placesOf, unitOf } from "../save/report/charts.ts";
import { summaryOf } from "../save/report/summary.ts";
import type { WholeRun } from "../save/whole.ts";

const FLOWS = 4;
const LINKS = 3;
const TIME = "time (s)";

export function figuresOf(run: WholeRun): Figure[] {
  return [windows(run), goodput(run), queues(run)].filter(({ lines }) => lines.length > 0);
}

/** Returns a column of the rows of one flow or link; if proxies split a flow, the rows of its first leg. */
function rows(table: Table | undefined, key: "flow" | "link", number: number, column: string): Float64Array {
  const keys = table?.columns[key]?.values ?? [];
  const leg = table?.columns.leg?.values;
  const values = table?.columns[column]?.values ?? [];
  const found: number[] = [];
  for (let row = 0; row < keys.length; row++) {
    if (keys[row] === number && (!leg || (leg[row] ?? 1) <= 1)) {
      found.push(values[row] ?? Number.NaN);
    }
  }
  return Float64Array.from(found);
}

function windows({ flows, tables }: WholeRun): Figure {
  const lines = flows.slice(0, FLOWS).flatMap((name, at): FigureLine[] => {
    const x = rows(tables.trace, "flow", at, "time_s");
    return x.length > 0 ? [{ name, x, y: rows(tables.trace, "flow", at, "cwnd_segments"), looks: "step" }] : [];
  });
  return { title: "cwnd", unit: "segments", xTitle: TIME, lines };
}

/** Returns the goodput as in the report. */
function goodput({ charts, flows: [first = "", ...others] }: WholeRun): Figure {
  const [panel] = charts?.find(({ name }) => name === "goodput")?.panels ?? [];
  const series = panel?.kind === "line" ? panel.series.slice(0, FLOWS) : [];
  const lines = series.map((line): FigureLine => {
    const y = line.y.map((value) => value ?? Number.NaN);
    return { name: others.length > 0 ? line.name : first, x: placesOf(line), y };
  });
  return { title: "goodput", unit: panel?.title ?? "", xTitle: TIME, lines };
}

function queues(run: WholeRun): Figure {
  const { links, tables } = run;
  const fullest = summaryOf(run)
    .links.filter(({ max_queue_packets }) => max_queue_packets > 0)
    .toSorted((a, b) => b.max_queue_packets - a.max_queue_packets)
    .slice(0, LINKS);
  const lines = fullest.flatMap(({ name }): FigureLine[] => {
    const number = links.indexOf(name);
    const x = rows(tables.queue, "link", number, "time_s");
    return x.length > 0 ? [{ name, x, y: rows(tables.queue, "link", number, "packets"), looks: "step" }] : [];
  });
  return { title: "queue", unit: "packets", xTitle: TIME, lines };
}

/** Returns a table of the first flows. */
export function rowsOf(run: WholeRun): { heads: string[]; rows: [string, ...string[]][] } {
  const flows = summaryOf(run).flows.slice(0, 2 * FLOWS);
  const [factor, unit] = unitOf(Math.max(0, ...flows.map(({ goodput_bps }) => goodput_bps)), "bit/s");
  const short = (value: number) => String(Number(value.toPrecision(4)));
  const rows = flows.map((flow): [string, ...string[]] => [
    flow.name,
    flow.congestion,
    `${short(flow.goodput_bps / factor)} ${unit}`,
    flow.finish_s === null ? "–" : `${short(flow.finish_s)} s`,
    String(flow.retransmitted_segments),
    String(flow.timeouts),
    flow.mean_rtt_s === null ? "–" : `${short(1e3 * flow.mean_rtt_s)} ms`,
  ]);
  return { heads: ["flow", "congestion", "goodput", "finished", "retransmitted", "timeouts", "mean RTT"], rows };
}
