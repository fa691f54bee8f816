/** The report of a run as one HTML file: the reason for its speed, a timeline, tables, and how to reproduce it. */

import { general } from "../../app/numbers.ts";
import { type Account, analysed, type TextTable } from "../../engine/analysis.ts";
import { Pages } from "../pages.ts";
import { escaped } from "../svg.ts";
import { drawnWaterfall, INK_OF_REPORTS, saysOf } from "../waterfall.ts";
import type { WholeRun } from "../whole.ts";
import { anchors, type Cell, facts, figure, folded, page, section, table, told, ZOOMING } from "./page.ts";
import { summaryOf } from "./summary.ts";

export function runReport(run: WholeRun, account?: Account): string {
  const { scenario, seed, simulated_s, version, result_hash } = summaryOf(run);
  const name = String(scenario.name);
  const charts = run.charts ?? [];
  const ended = run.interrupted ? ", interrupted" : "";
  const nothing = "<p>The scenario records neither a trace, nor queues, nor drops.</p>";
  const places = { timeline: "Timeline", tables: "Tables", repeat: "How to reproduce it" };
  const why = { why: "What determined its speed" };
  const waterfall = waterfallOf(run);
  const leading = { ...(account ? why : {}), ...(waterfall ? { waterfall: "Waterfall of a page" } : {}) };
  const body = [
    `<h1>${escaped(name)}</h1>`,
    `<p class="lead">seed ${seed}, ${general(simulated_s, 6)} s simulated${ended}</p>`,
    anchors({ ...leading, ...places }),
    ...(account ? [because(why.why, account)] : []),
    ...(waterfall ? [section("waterfall", "Waterfall of a page", [waterfall])] : []),
    section("timeline", places.timeline, charts.length > 0 ? [ZOOMING, ...charts.map(figure)] : [nothing]),
    section("tables", places.tables, tablesOf(run).map(tableOf), true),
    section(
      "repeat",
      places.repeat,
      [
        facts([
          ["version", version],
          ["created by", "lightlag studio, whose engine gives the same values as the command line"],
          ["seed", String(seed)],
          ["hash", result_hash],
        ]),
        scenarioOf(scenario),
      ],
      true,
    ),
  ];
  return page(`${name}: a run`, body, charts);
}

/** Returns the waterfall of the first load of the run's first page; undefined if no object of a page arrived. */
function waterfallOf({ tables, flows }: WholeRun): string | undefined {
  const pages = new Pages(tables, flows);
  const [first] = pages.list();
  const load = first && pages.load(first.flow, first.pages[0] ?? 1);
  if (!load) {
    return undefined;
  }
  const svg = drawnWaterfall({ title: "", load }, { ink: INK_OF_REPORTS, head: "legend", fit: "fluid" });
  const caption = "Each colour is a connection. Below the bars: the fraction of the bytes that had arrived.";
  return `<figure>${svg}<figcaption>${escaped(`${saysOf(load)} ${caption}`)}</figcaption></figure>`;
}

function because(title: string, { headline, flows }: Account): string {
  const [only] = flows;
  if (flows.length <= 1) {
    return told("why", title, headline, only?.[1] ?? []);
  }
  const parts = flows.map(([name, sentences]) => {
    const list = sentences.map((sentence) => `<li>${escaped(sentence)}</li>`).join("");
    return `<h3>${escaped(name)}</h3><ul>${list}</ul>`;
  });
  const inside = `<details open><summary>The slowest flows</summary>${parts.join("")}</details>`;
  return told("why", title, headline, [], inside);
}

export function scenarioOf(scenario: unknown): string {
  const text = escaped(JSON.stringify(scenario, null, 2));
  return folded("The scenario, with every default", `<pre tabindex="0">${text}</pre>`);
}

/** Returns the tables that the command line prints. */
export function tablesOf(run: Pick<WholeRun, "summary">): TextTable[] {
  const { flows, legs, links, proxies, tunnels, interfaces } = summaryOf(run);
  return analysed({ tables: { flows, legs, links, proxies, tunnels, interfaces } });
}

function tableOf({ title, columns, rows }: TextTable): string {
  const cells = rows.map((row) => row.map((shown): Cell => ({ shown, isNumber: /^\d/.test(shown) })));
  return `<h3>${title}</h3>${table(columns, cells)}`;
}
