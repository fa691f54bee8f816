/** The files of a scenario, a run and a comparison. */

import type { Account } from "../engine/analysis.ts";
import type { ScenarioInput } from "../engine/protocol.ts";
import { csv } from "./csv.ts";
import { fileName, type NamedFile, zipped } from "./download.ts";
import { drawn, drawnIntervals, type Looks } from "./figure.ts";
import type { ComparisonReport } from "./report/comparison.ts";
import { type Sheet, sheets } from "./sheet.ts";
import type { AnyFigure } from "./there.ts";
import { drawnWaterfall } from "./waterfall.ts";
import type { WholeRun } from "./whole.ts";

export type Format = "csv" | "parquet";

function stem(run: WholeRun): string {
  const { name } = run.summary.scenario as { name: string };
  return `${name}-seed-${run.seed}`;
}

export function scenarioFile(name: string, { toml }: ScenarioInput): NamedFile {
  return { name: `${name}.toml`, content: toml, type: "application/toml" };
}

/** Packs the tables of a run, one file each, with its summary. */
export async function dataFile(run: WholeRun, dictionary: unknown[], format: Format): Promise<NamedFile> {
  const tables = sheets(dictionary, run.summary, run.tables, run);
  const files = await Promise.all(tables.map((sheet) => sheetFile(sheet, format)));
  const summary = { name: "summary.json", content: JSON.stringify(run.summary, null, 2) };
  return zipped(`${stem(run)}-${format}.zip`, [...files, summary]);
}

export async function sheetFile(
  sheet: Sheet,
  format: Format,
): Promise<{ name: string; content: Uint8Array<ArrayBuffer> | string }> {
  if (format === "csv") {
    return { name: `${sheet.name}.csv`, content: csv(sheet) };
  }
  const { parquet } = await import("./parquet.ts");
  return { name: `${sheet.name}.parquet`, content: new Uint8Array(parquet(sheet)) };
}

/** Packs the captures of a run: one file, or several in one. */
export async function capturesFile(run: WholeRun): Promise<NamedFile> {
  const [first, ...others] = run.captures;
  if (!first) {
    throw new Error("the run captured nothing: it has no flow whose packets are captured");
  }
  if (others.length === 0) {
    return {
      name: `${stem(run)}-${first.name}`,
      content: new Uint8Array(first.data),
      type: "application/octet-stream",
    };
  }
  const files = run.captures.map(({ name, data }) => ({ name, content: data }));
  return zipped(`${stem(run)}-captures.zip`, files);
}

export async function runReportFile(run: WholeRun, account?: Account): Promise<NamedFile> {
  const { runReport } = await import("./report/run.ts");
  return { name: `${stem(run)}.html`, content: runReport(run, account), type: "text/html" };
}

export async function comparisonReportFile(comparison: ComparisonReport): Promise<NamedFile> {
  const { comparisonReport } = await import("./report/comparison.ts");
  return { name: `${comparison.name}-comparison.html`, content: comparisonReport(comparison), type: "text/html" };
}

export async function comparisonDataFile(comparison: ComparisonReport, format: Format): Promise<NamedFile> {
  const { content } = await sheetFile(comparison.table, format);
  const type = format === "csv" ? "text/csv" : "application/octet-stream";
  return { name: `${comparison.name}-runs.${format}`, content, type };
}

/** Renders a figure as SVG. */
export function svgOf(figure: AnyFigure, looks: Looks = {}): string {
  if ("load" in figure) {
    return drawnWaterfall(figure, looks);
  }
  return "lines" in figure ? drawn(figure, looks) : drawnIntervals(figure, looks);
}

export async function figureFile(name: string, figure: AnyFigure, kind: "svg" | "png"): Promise<NamedFile> {
  const svg = svgOf(figure);
  const title = fileName(`${name}-${figure.title.toLowerCase()}.${kind}`);
  if (kind === "svg") {
    return { name: title, content: svg, type: "image/svg+xml" };
  }
  const { png } = await import("./png.ts");
  return { name: title, content: await png(svg), type: "image/png" };
}
