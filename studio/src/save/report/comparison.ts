/** The report of a comparison as one HTML file: the best variant, then charts, tables, and how to reproduce it. */

import type { Sheet } from "../sheet.ts";
import { escaped } from "../svg.ts";
import type { Chart } from "./charts.ts";
import { anchors, type Cell, facts, figure, folded, page, section, table, told, ZOOMING } from "./page.ts";
import { scenarioOf } from "./run.ts";

/** A metric of all variants. */
export interface MeasureReport {
  title: string;
  unit: string;
  about: string;
  /**
   * Mean, half width (NaN if there is none) and the values of the runs, by variant; `shown` is the text in the table.
   */
  rows: { name: string; mean: number; halfWidth: number; values: number[]; shown: string }[];
}

/** The goodput per flow of an algorithm that competes with others in the runs of a variant. */
export interface ShareReport {
  variant: string;
  algorithm: string;
  mean: number;
  shown: string;
}

/** A comparison in the form of reports and files. */
export interface ComparisonReport {
  name: string;
  /** Its subject, in a sentence. */
  lead: string;
  headline: string;
  sentences: string[];
  measures: MeasureReport[];
  shares: ShareReport[];
  /** The variants compared with the best by each metric. */
  differences: { measure: string; name: string; shown: string; mean: number; words: string }[];
  charts: Chart[];
  algorithms: { name: string; provenance: string; source: string }[];
  /** Number of runs as text, by variant. */
  runs: string[];
  variants: { name: string; sets: [string, string][] }[];
  seeds: string;
  hashes: { variant: string; seed: number; hash: string }[];
  version: string;
  scenario: unknown;
  /** The chart's data as a table, one row per run. */
  table: Sheet;
}

export function comparisonReport(given: ComparisonReport): string {
  const { name, lead, headline, sentences, measures, charts, variants, hashes, seeds, version, scenario } = given;
  const places = {
    answer: "Conclusion",
    figures: "Charts",
    tables: "Tables",
    algorithms: "Algorithms",
    measures: "Metrics",
    repeat: "How to reproduce it",
  };
  const body = [
    `<h1>${escaped(name)}</h1>`,
    `<p class="lead">${escaped(lead)}</p>`,
    anchors(places),
    told("answer", places.answer, headline, sentences),
    section("figures", places.figures, [ZOOMING, ...charts.map(figure)]),
    section(
      "tables",
      places.tables,
      ["<h3>Means and intervals</h3>", means(given), ...compared(given), ...competing(given)],
      true,
    ),
    section("algorithms", places.algorithms, [algorithms(given)], true),
    section("measures", places.measures, [about(measures)], false),
    section(
      "repeat",
      places.repeat,
      [
        facts([
          ["version", version],
          ["created by", "lightlag studio, whose engine gives the same values as the command line"],
          ["seeds", seeds],
          ...variants.map(({ name, sets }): [string, string] => [
            name,
            sets.map(([key, value]) => `${key} = ${value}`).join(", ") || "the unchanged scenario",
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

function compared({ differences }: ComparisonReport): string[] {
  const rows = differences.map(({ measure, name, shown, mean, words }): Cell[] => [
    { shown: measure },
    { shown: name },
    { shown, at: mean, isNumber: true },
    { shown: words },
  ]);
  const heads = ["metric", "variant", "mean", "compared with the best"];
  return rows.length > 0 ? ["<h3>Differences from the best</h3>", table(heads, rows)] : [];
}

function competing({ shares }: ComparisonReport): string[] {
  const rows = shares.map(({ variant, algorithm, mean, shown }): Cell[] => [
    { shown: variant },
    { shown: algorithm },
    { shown, at: mean, isNumber: true },
  ]);
  const heads = ["variant", "algorithm", "goodput per flow"];
  return rows.length > 0 ? ["<h3>Competing algorithms</h3>", table(heads, rows)] : [];
}

/** Descriptions of the provenance of a model. */
const PROVENANCE = {
  established: "Established: the source states the rules and constants.",
  reconstructed:
    "Reconstructed: the public texts leave rules or constants open. lightlag's own choices fill the gaps and are listed " +
    "in its documentation; its results hold for this design.",
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
    `<dl>${all.join("")}</dl><p>Means are over independent runs; ± is half the width of the 95 % interval (Student t).</p>` +
    "<p>The conclusion and the table of differences compare runs with the same seed, which share the same randomness. " +
    "Intervals of ratios follow Fieller (1954). The intervals of all pairs of variants hold simultaneously with 95 % " +
    "confidence for each metric (Bonferroni; Law 2015, section 10.3.2). If such an interval contains 0 %, these runs do " +
    "not distinguish the two variants, even if the intervals of their means do not overlap. The number of seeds that " +
    "would probably tell gives the paired test a power of 80 % if mean and spread of the differences stay as they " +
    "are.</p><p>The conclusion states what the best variant costs: at least 5 % of its segments retransmitted, a mean " +
    "queueing delay of at least 20 % of the minimum RTT, or a Jain index of at most 0.9, if another variant has at most " +
    "half of that cost. It names a variant that avoids such a cost with at least 90 % of the best goodput, or that " +
    "cannot be distinguished from the best.</p>"
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
