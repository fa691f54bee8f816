/** The report of a run as one HTML file: why it was as fast as it was, a timeline, tables, and what it takes to repeat it. */

import { escaped } from "../figure.ts";
import type { WholeRun } from "../whole.ts";
import { rounded, unitOf } from "./charts.ts";
import { anchors, type Cell, facts, figure, folded, page, section, table, told, ZOOMING } from "./page.ts";
import { type FlowSummary, type LinkSummary, summaryOf } from "./summary.ts";
import { timeline } from "./timeline.ts";

/** Why a run was as fast as it was: a sentence, and flows, each with its sentences. */
export interface Account {
  headline: string;
  flows: [name: string, sentences: string[]][];
}

const FLOWS = 20;
const LINKS = 8;

export function runReport(run: WholeRun, account?: Account): string {
  const { scenario, seed, simulated_s, version, result_hash, flows, links } = summaryOf(run);
  const name = String(scenario.name);
  const charts = timeline(run);
  const ended = run.interrupted ? ", interrupted" : "";
  const nothing = "<p>The scenario records neither a trace, nor queues, nor drops.</p>";
  const places = { timeline: "Timeline", tables: "Tables", repeat: "How to repeat it" };
  const why = { why: "Why it was as fast as it was" };
  const body = [
    `<h1>${escaped(name)}</h1>`,
    `<p class="lead">seed ${seed}, ${rounded(simulated_s, 6)} s simulated${ended}</p>`,
    anchors(account ? { ...why, ...places } : places),
    ...(account ? [because(why.why, account)] : []),
    section("timeline", places.timeline, charts.length > 0 ? [ZOOMING, ...charts.map(figure)] : [nothing]),
    section("tables", places.tables, ["<h3>Flows</h3>", flowTable(flows), "<h3>Links</h3>", linkTable(links)], true),
    section(
      "repeat",
      places.repeat,
      [
        facts([
          ["version", version],
          ["made by", "lightlag studio, whose engine gives the numbers of the command line"],
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

function number(shown: string, at?: number): Cell {
  return at === undefined ? { shown, isNumber: true } : { shown, at, isNumber: true };
}

function flowTable(flows: FlowSummary[]): string {
  const shown = flows.slice(0, FLOWS);
  const [factor, unit] = unitOf(Math.max(0, ...shown.map(({ goodput_bps }) => goodput_bps)), "bit/s");
  const heads = [
    "flow",
    "congestion",
    "goodput",
    "finished",
    "resent",
    "timeouts",
    "mean RTT",
    "mean cwnd",
    "limited by",
  ];
  const rows = shown.map((flow): Cell[] => [
    { shown: flow.name },
    { shown: flow.congestion },
    number(`${rounded(flow.goodput_bps / factor)} ${unit}`, flow.goodput_bps),
    number(flow.finish_s === null ? "–" : `${rounded(flow.finish_s)} s`, flow.finish_s ?? undefined),
    number(share(flow.retransmitted_segments, flow.sent_segments)),
    number(String(flow.timeouts)),
    number(flow.mean_rtt_s === null ? "–" : `${rounded(flow.mean_rtt_s * 1e3)} ms`, flow.mean_rtt_s ?? undefined),
    number(String(rounded(flow.mean_cwnd_segments) ?? "–"), flow.mean_cwnd_segments),
    { shown: limitedBy(flow.limited_s) },
  ]);
  return table(heads, rows);
}

function linkTable(links: LinkSummary[]): string {
  const dropped = (link: LinkSummary) => link.dropped_queue + link.dropped_error + link.dropped_aqm;
  const shown = links
    .filter(({ carried_bytes }) => carried_bytes > 0)
    .toSorted((a, b) => dropped(b) - dropped(a) || b.utilisation - a.utilisation)
    .slice(0, LINKS);
  const heads = [
    "link",
    "utilisation",
    "dropped (queue)",
    "dropped (error)",
    "dropped (AQM)",
    "mean queue",
    "max queue",
  ];
  const rows = shown.map((link): Cell[] => [
    { shown: link.name },
    number(`${(100 * link.utilisation).toFixed(1)}%`, link.utilisation),
    number(String(link.dropped_queue)),
    number(String(link.dropped_error)),
    number(String(link.dropped_aqm)),
    number(String(rounded(link.mean_queue_packets)), link.mean_queue_packets),
    number(String(link.max_queue_packets)),
  ]);
  return table(heads, rows);
}

/** A share in percent, with two digits for small ones. */
function share(part: number, of: number): string {
  return part === 0 || of === 0 ? "0%" : `${Number(((100 * part) / of).toPrecision(2))}%`;
}

function limitedBy(limits: Record<string, number> = {}): string {
  const total = Object.values(limits).reduce((sum, value) => sum + value, 0);
  const [most] = Object.entries(limits).sort(([, a], [, b]) => b - a);
  return most && total > 0 ? `${most[0]} ${Math.round((100 * most[1]) / total)}%` : "–";
}
