/** The report of a comparison as one HTML file: which is best, then charts, tables, and what it takes to repeat it. */

import { escaped } from "../figure.ts";
import type { Sheet } from "../sheet.ts";
import { type Chart, rounded, unitOf } from "./charts.ts";
import { anchors, type Cell, facts, figure, folded, page, section, table, told, ZOOMING } from "./page.ts";
import { scenarioOf } from "./run.ts";

/** A measure of all variants. */
export interface MeasureReport {
  title: string;
  unit: string;
  about: string;
  /** Mean, half width (NaN where there is none) and the values of the runs, by variant; `shown` is what a table has. */
  rows: { name: string; mean: number; halfWidth: number; values: number[]; shown: string }[];
}

/** The goodput of a flow of an algorithm that competes with others in the runs of a variant. */
export interface ShareReport {
  variant: string;
  algorithm: string;
  mean: number;
  shown: string;
}

/** A comparison as reports and files have it. */
export interface ComparisonReport {
  name: string;
  /** Its subject, in a sentence. */
  lead: string;
  headline: string;
  sentences: string[];
  measures: MeasureReport[];
  shares: ShareReport[];
  /** Charts beside those of the measures. */
  charts: Chart[];
  algorithms: { name: string; provenance: string; source: string }[];
  /** Of the table: by variant. */
  runs: string[];
  variants: { name: string; sets: [string, string][] }[];
  seeds: string;
  hashes: { variant: string; seed: number; hash: string }[];
  version: string;
  scenario: unknown;
  /** The same as a table, a row a run. */
  table: Sheet;
}

export function comparisonReport(given: ComparisonReport): string {
  const { name, lead, headline, sentences, measures, variants, hashes, seeds, version, scenario } = given;
  const charts = [bars(measures), ...given.charts];
  const places = {
    answer: "Answer",
    figures: "Charts",
    tables: "Tables",
    algorithms: "Algorithms",
    measures: "Measures",
    repeat: "How to repeat it",
  };
  const body = [
    `<h1>${escaped(name)}</h1>`,
    `<p class="lead">${escaped(lead)}</p>`,
    anchors(places),
    told("answer", places.answer, headline, sentences),
    section("figures", places.figures, [ZOOMING, ...charts.map(figure)]),
    section("tables", places.tables, ["<h3>Means and intervals</h3>", means(given), ...competing(given)], true),
    section("algorithms", places.algorithms, [algorithms(given)], true),
    section("measures", places.measures, [about(measures)], false),
    section(
      "repeat",
      places.repeat,
      [
        facts([
          ["version", version],
          ["made by", "lightlag studio, whose engine gives the numbers of the command line"],
          ["seeds", seeds],
          ...variants.map(({ name, sets }): [string, string] => [
            name,
            sets.map(([key, value]) => `${key} = ${value}`).join(", ") || "the scenario as it is",
          ]),
        ]),
        scenarioOf(scenario),
        folded(`Hashes of the ${hashes.length.toLocaleString("en")} runs`, hashTable(hashes)),
      ],
      true,
    ),
  ];
  return page(`${name}: comparison`, body, charts);
}

function bars(measures: MeasureReport[]): Chart {
  const panels = measures.map(({ title, unit, rows }) => {
    const [factor, label] = unitOf(Math.max(0, ...rows.flatMap(({ values }) => values)), unit);
    const there = rows.filter(({ values }) => values.length > 0);
    return {
      kind: "bars" as const,
      title,
      says: `${title}: ${rows.map(({ name, shown }) => `${name} ${shown}`).join(", ")}.`,
      x: { label },
      rows: there.map(({ name, mean, halfWidth, values }, at) => ({
        name,
        at,
        mean: rounded(mean / factor, 5) ?? 0,
        ...(Number.isNaN(halfWidth)
          ? {}
          : { lo: rounded((mean - halfWidth) / factor, 5) ?? 0, hi: rounded((mean + halfWidth) / factor, 5) ?? 0 }),
        values: values.length > 1 ? values.map((value) => rounded(value / factor) ?? 0) : [],
      })),
    };
  });
  const caption = "Means of all runs with their 95 % intervals; a ring is a run.";
  return { name: "bars", title: "Every measure", caption, panels, group: "", panelWidth: 18 };
}

function means({ measures, runs }: ComparisonReport): string {
  const names = measures[0]?.rows.map(({ name }) => name) ?? [];
  const heads = ["variant", ...measures.map(({ title }) => title.toLowerCase().replace("rtt", "RTT")), "runs"];
  const rows = names.map((name, at): Cell[] => [
    { shown: name },
    ...measures.map(({ rows }): Cell => ({ shown: rows[at]?.shown ?? "–", at: rows[at]?.mean ?? "", isNumber: true })),
    { shown: runs[at] ?? "", isNumber: true },
  ]);
  return table(heads, rows);
}

function competing({ shares }: ComparisonReport): string[] {
  const rows = shares.map(({ variant, algorithm, mean, shown }): Cell[] => [
    { shown: variant },
    { shown: algorithm },
    { shown, at: mean, isNumber: true },
  ]);
  const heads = ["variant", "algorithm", "goodput of a flow"];
  return rows.length > 0 ? ["<h3>Competing algorithms</h3>", table(heads, rows)] : [];
}

/** Whether models follow their sources in every rule. */
const PROVENANCE = {
  established: "Established: rules and constants are those of the source.",
  reconstructed:
    "Reconstructed: the public texts leave rules or constants open. What fills the gaps is lightlag's own and named in its " +
    "documentation; read its results as those of such a design.",
};

function algorithms({ algorithms }: ComparisonReport): string {
  const rows = algorithms.map(({ name, provenance, source }): Cell[] => [
    { shown: name },
    { shown: provenance },
    { shown: source },
  ]);
  const notes = Object.values(PROVENANCE).map((note) => `<li>${escaped(note)}</li>`);
  return `${table(["algorithm", "model", "source"], rows)}<ul>${notes.join("")}</ul>`;
}

function about(measures: MeasureReport[]): string {
  const all = measures.map(({ title, about }) => `<dt>${escaped(title)}</dt><dd>${escaped(about)}</dd>`);
  return (
    `<dl>${all.join("")}</dl><p>Each mean is that of independent runs; ± is half of its 95 % interval (Student t).</p>` +
    "<p>The answer compares runs of the same seed, which meet the same chance. An interval of a ratio is that of " +
    "Fieller (1954). The intervals of the best beside all others hold together with 95 % (Bonferroni). Where an interval " +
    "holds 0 %, two cannot be told apart by these runs.</p>"
  );
}

function hashTable(hashes: ComparisonReport["hashes"]): string {
  const rows = hashes.map(({ variant, seed, hash }): Cell[] => [
    { shown: variant },
    { shown: String(seed), isNumber: true },
    { shown: hash, isCode: true },
  ]);
  const about = "Each run records how long packets wait (<code>record.queueing = true</code>), which its hash covers.";
  return `<p>${about}</p>${table(["variant", "seed", "hash"], rows)}`;
}
