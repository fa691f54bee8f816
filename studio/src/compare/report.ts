/** The comparison in the form of reports, files and figures. */

import { about, checked, title } from "../app/state.ts";
import type { Figure, IntervalFigure } from "../save/figure.ts";
import { unitOf } from "../save/report/charts.ts";
import type { ComparisonReport, MeasureReport } from "../save/report/comparison.ts";
import type { Sheet, SheetColumn } from "../save/sheet.ts";
import { answer, differences } from "./answer.ts";
import { charts, sharesOf } from "./charts.ts";
import type { Comparison } from "./comparison.ts";
import { comparison, entries, progress, seedList, shownSeed } from "./course.ts";
import { goodputMeasure, show } from "./measures.ts";
import { pictures } from "./pictures.ts";

export function reported(): ComparisonReport {
  const found = comparison.peek();
  const said = answer(found);
  const { done, all } = progress.peek();
  const seeds = seedList.peek();
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const runs = done < all ? `interrupted after ${done} of ${all} runs` : `${done} runs`;
  return {
    name: title.peek(),
    lead: `${count(found.contenders.length, "variant")} × ${count(seeds.length, "seed")}: ${runs}.`,
    headline: said?.headline ?? "",
    sentences: said?.sentences ?? [],
    measures: measures(found),
    shares: sharesOf(found).map(({ variant, algorithm, interval }) => {
      return { variant, algorithm, mean: interval.mean, shown: show(goodputMeasure(), interval) };
    }),
    differences: compared(found),
    charts: charts(found, shownSeed.peek()),
    algorithms: algorithms(found),
    runs: found.contenders.map((one) => `${one.outcomes.length}${found.isFixed(one) ? ", identical" : ""}`),
    variants: entries.peek().map(({ name, variant }) => ({ name, sets: variant.sets })),
    seeds: seeds.length > 1 ? `${seeds[0]} to ${seeds.at(-1)}` : String(seeds[0]),
    hashes: found.contenders.flatMap(({ name, outcomes }) =>
      outcomes.map(({ seed, result_hash }) => ({ variant: name, seed, hash: result_hash })),
    ),
    version: about.peek()?.version ?? "",
    scenario: checked.peek()?.scenario,
    table: sheet(found),
  };
}

/** Returns the algorithms of the flows, with the provenance of their models. */
function algorithms(found: Comparison): ComparisonReport["algorithms"] {
  const flows = found.contenders.flatMap(({ outcomes }) => outcomes[0]?.flows ?? []);
  const names = new Set(flows.map(({ congestion }) => congestion));
  const known = about.peek()?.congestion ?? [];
  return [...names].flatMap((name) => {
    const one = known.find((other) => other.name === name);
    return one ? [{ name, provenance: one.provenance, source: one.source }] : [];
  });
}

function measures(found: Comparison): MeasureReport[] {
  return found.columns.map((measure) => {
    const intervals = found.contenders.map((one) => found.interval(one, measure));
    const largest = Math.max(...intervals.map(({ mean }) => mean || 0));
    return {
      title: measure.title,
      unit: measure.unit,
      about: measure.about,
      rows: found.contenders.map((one, at) => {
        const interval = intervals[at] ?? { mean: Number.NaN, halfWidth: Number.NaN, count: 0 };
        const { mean, halfWidth } = interval;
        const values = [...found.values(one, measure).values()];
        return { name: one.name, mean, halfWidth, values, shown: show(measure, interval, largest) };
      }),
    };
  });
}

/** Returns the variants compared with the best by each metric. */
function compared(found: Comparison): ComparisonReport["differences"] {
  return found.columns.flatMap((measure) => {
    const { base, mean, rows } = differences(found, measure) ?? { base: "", mean: 0, rows: [] };
    const all = rows.length > 0 ? [{ name: base, mean, words: "best" }, ...rows] : [];
    return all.map(({ name, mean: own, words }) => {
      const shown = show(measure, { mean: own, halfWidth: Number.NaN, count: 1 }, mean);
      return { measure: measure.title.toLowerCase().replace("rtt", "RTT"), name, shown, mean: own, words };
    });
  });
}

/** Returns one row per run, with the column names of `lightlag compare`. */
function sheet(found: Comparison): Sheet {
  const rows = found.contenders.flatMap(({ name, outcomes }) => outcomes.map((outcome) => ({ name, ...outcome })));
  const column = (
    name: string,
    kind: SheetColumn["kind"],
    of: (row: (typeof rows)[number]) => string | number | null,
  ): SheetColumn => {
    const at = (row: number) => {
      const given = rows[row];
      const value = given === undefined ? null : of(given);
      return typeof value === "number" && Number.isNaN(value) ? null : value;
    };
    return { name, kind, bits: 64, at, hasGaps: rows.some((_, row) => at(row) === null) };
  };
  return {
    name: "runs",
    rows: rows.length,
    columns: [
      column("variant", "text", ({ name }) => name),
      column("seed", "count", ({ seed }) => seed),
      column("goodput_bps", "number", ({ goodput_bps }) => goodput_bps),
      column("completion_s", "number", ({ completion_s }) => completion_s),
      column("jain", "number", ({ jain }) => jain),
      column("retransmitted_share", "number", ({ retransmitted_share }) => retransmitted_share),
      column("queueing_mean_s", "number", ({ queueing_mean_s }) => queueing_mean_s),
      column("queueing_p95_s", "number", ({ queueing_p95_s }) => queueing_p95_s),
      column("timeouts", "count", ({ timeouts }) => timeouts),
      column("mean_rtt_s", "number", ({ mean_rtt_s }) => mean_rtt_s),
      column("simulated_s", "number", ({ simulated_s }) => simulated_s),
      column("bottleneck", "text", ({ bottleneck }) => bottleneck),
      column("result_hash", "text", ({ result_hash }) => result_hash),
    ],
  };
}

/** Returns the figures of the metrics, and those over time and flows. */
export function figuresOf(): (Figure | IntervalFigure)[] {
  const found = comparison.peek();
  return [...intervals(found), ...pictures(found, shownSeed.peek()).map(({ figure }) => figure)];
}

function intervals(found: Comparison): IntervalFigure[] {
  return measures(found).map(({ title, unit, rows }) => {
    const [factor, label] = unitOf(Math.max(0, ...rows.flatMap(({ values }) => values)), unit);
    const scaled = rows.map(({ name, mean, halfWidth, values }) => ({
      name,
      mean: mean / factor,
      halfWidth: halfWidth / factor,
      values: values.map((value) => value / factor),
    }));
    return { title, unit: label, rows: scaled };
  });
}
