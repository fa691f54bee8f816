/** The frame of a report: one HTML file with its style, scripts and data, as `lightlag report` writes it. */

import chartScript from "../../../../python/lightlag/report/chart.js?raw";
import drawingScript from "../../../../python/lightlag/report/drawing.js?raw";
import style from "../../../../python/lightlag/report/page.css?raw";
import panelScript from "../../../../python/lightlag/report/panel.js?raw";
import tableScript from "../../../../python/lightlag/report/tables.js?raw";
import { escaped } from "../svg.ts";
import { type Chart, json } from "./charts.ts";

const SCRIPT = `"use strict";\n(() => {\n${drawingScript}${panelScript}${chartScript}})();\n(() => {\n${tableScript}})();\n`;

/** Instructions for zooming charts; hidden in print. */
export const ZOOMING =
  '<p class="hint">Drag across a chart to zoom, double-click to show all; the keys +, −, 0 and the arrow keys do ' +
  "the same. Click a name above a chart to hide or show its line.</p>";

export function page(title: string, body: string[], charts: Chart[]): string {
  const data = Object.fromEntries(charts.map((chart) => [chart.name, json(chart)]));
  // A closing tag inside a name would end the script.
  const plain = JSON.stringify(data).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body.join("\n")}
</main>
<script type="application/json" id="charts">${plain}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** A cell of a table. */
export interface Cell {
  shown: string;
  /** Its sort key; by default its text. */
  at?: string | number;
  isNumber?: boolean;
  isCode?: boolean;
}

export function table(heads: string[], rows: Cell[][]): string {
  const kinds = (rows[0] ?? []).map(({ isNumber }) => (isNumber ? ' class="n"' : ""));
  const head = heads.map((one, at) => `<th scope="col"${kinds[at] ?? ""}>${escaped(one)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map(cell).join("")}</tr>`).join("");
  return (
    '<div class="wide" tabindex="0" role="group" aria-label="table">' +
    `<table class="sortable"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
  );
}

function cell({ shown, at, isNumber, isCode }: Cell): string {
  const place = at === undefined ? "" : ` data-at="${escaped(String(at))}"`;
  const inside = isCode ? `<code>${escaped(shown)}</code>` : escaped(shown);
  return `<td${isNumber ? ' class="n"' : ""}${place}>${inside}</td>`;
}

export function section(name: string, title: string, parts: string[], isOpen?: boolean): string {
  const inside = parts.join("\n");
  if (isOpen === undefined) {
    return `<section><h2 id="${name}">${escaped(title)}</h2>\n${inside}</section>`;
  }
  return (
    `<section><details${isOpen ? " open" : ""}><summary><h2 id="${name}">${escaped(title)}</h2></summary>\n` +
    `${inside}</details></section>`
  );
}

/** Renders the conclusion at the top: a headline and sentences. */
export function told(name: string, title: string, headline: string, sentences: string[], more = ""): string {
  const list = sentences.map((sentence) => `<li>${escaped(sentence)}</li>`).join("");
  return (
    `<section class="answer"><h2 id="${name}">${escaped(title)}</h2><p class="headline">${escaped(headline)}</p>` +
    `${list ? `<ul>${list}</ul>` : ""}${more}</section>`
  );
}

/** Renders links to the parts of a page, by their names. */
export function anchors(places: Record<string, string>): string {
  const links = Object.entries(places).map(([name, title]) => `<a href="#${name}">${escaped(title)}</a>`);
  return `<nav aria-label="parts of the report">${links.join("")}</nav>`;
}

/** Renders the container of a chart. Each panel has a text that describes it, for readers who cannot see it. */
export function figure(chart: Chart): string {
  const panels = chart.panels.map(
    ({ says }) => `<div class="panel" tabindex="0" role="img" aria-label="${escaped(says)}"></div>`,
  );
  const said = escaped(chart.panels.map(({ says }) => says).join(" "));
  return (
    `<figure id="${chart.name}"><h3>${escaped(chart.title)}</h3>` +
    `<div class="panels" style="--panel: ${chart.panel_width}rem">${panels.join("")}</div>` +
    `<noscript><p>This chart needs the page's script. ${said}</p></noscript>` +
    `<figcaption>${escaped(chart.caption)}</figcaption></figure>`
  );
}

/** Renders names with their values, in code. */
export function facts(pairs: [string, string][]): string {
  const all = pairs.map(([name, value]) => `<dt>${escaped(name)}</dt><dd><code>${escaped(value)}</code></dd>`);
  return `<dl>${all.join("")}</dl>`;
}

/** Renders a long text that is initially folded. */
export function folded(title: string, inside: string): string {
  return `<details class="long"><summary>${escaped(title)}</summary>${inside}</details>`;
}
