import { useSignal, useSignalEffect } from "@preact/signals";
import { Repeat, runCommand } from "../app/command.tsx";
import { time } from "../app/layout.ts";
import { Name } from "../app/name.tsx";
import { fixed, grouped, number, rate } from "../app/numbers.ts";
import { live } from "../app/state.ts";
import { type Head, Table } from "../app/table.tsx";
import { SERIES } from "../app/theme.ts";
import { flowsOf, linksOf, MOST_FLOWS, MOST_LINKS, toggle } from "./chosen.ts";
import { short } from "./figures.ts";
import type { Live } from "./live.ts";
import { nativeOf } from "./native.ts";
import { wall_ms } from "./running.ts";

/** Number of rows of a list that are shown initially. */
const ROWS = 64;

/** Current state of flows, links, and the result. */
export function Side() {
  const run = live.value;
  return run ? (
    <aside class="side" aria-label="Flows, links and the result">
      <Outcome run={run} />
      <Flows run={run} />
      <Links run={run} />
    </aside>
  ) : null;
}

function Outcome({ run }: { run: Live }) {
  const native = useSignal<{ version: string; hash: string } | undefined>(undefined);
  useSignalEffect(() => {
    const result = run.result.value;
    native.value = undefined;
    if (result) {
      nativeOf(run.input.toml, run.seed).then((found) => {
        native.value = found;
      });
    }
  });
  const result = run.result.value;
  if (!result) {
    return null;
  }
  const { result_hash: hash, packet_hops, seed } = result.summary;
  return (
    <section class="panel outcome" aria-label="Result">
      <h2>Result</h2>
      <p>
        <code class="hash">{hash}</code>
      </p>
      {native.value &&
        (native.value.hash === hash ? (
          <p class="same">
            <span aria-hidden="true">✓</span> identical to native lightlag {native.value.version}
          </p>
        ) : (
          <p class="fault">
            native lightlag {native.value.version} has <code>{native.value.hash}</code>
          </p>
        ))}
      {result.failed && <p class="fault">{result.failed}</p>}
      <dl>
        <dt>Seed</dt>
        <dd>{seed}</dd>
        <dt>Packet-hops</dt>
        <dd>{grouped(packet_hops)}</dd>
        <dt>Engine</dt>
        <dd>
          {number(result.engine_s, 3)} s, {short(Number((packet_hops / result.engine_s / 1e6).toPrecision(3)))} million
          hops per second
        </dd>
        {wall_ms.value !== undefined && (
          <>
            <dt>Wall time</dt>
            <dd>{number(wall_ms.value / 1000, 3)} s from the start to the result</dd>
          </>
        )}
      </dl>
      <Repeat title="Repeat it" make={() => runCommand(run.input, run.seed)} />
    </section>
  );
}

/** Formats a fraction of the time. */
function percent(fraction: number): string {
  return fraction > 0 && fraction < 1e-3 ? "< 0.1 %" : `${fixed(100 * fraction, fraction < 0.1 ? 1 : 0)} %`;
}

const FLOW_HEADS: readonly Head[] = [
  "Flow",
  "Goodput",
  ["cwnd", "Segments"],
  ["SRTT", "Smoothed round-trip time"],
  ["Lost", "Packets that were dropped on the forward path"],
];
const LINK_HEADS: readonly Head[] = ["Link", ["Max queue", "Maximum length of the queue so far, in packets"]];

function Flows({ run }: { run: Live }) {
  const shown = flowsOf(run);
  const summary = run.result.value?.summary;
  const standings = run.standings.value;
  const names = run.started.flows.slice(0, ROWS);
  return (
    <section class="panel flows">
      <h2>Flows</h2>
      <div class="scroll">
        <Table label="Flows" heads={FLOW_HEADS}>
          {names.map((name, flow) => {
            const now = standings[flow];
            const at = shown.indexOf(flow);
            const goodput = summary?.flows[flow]?.goodput_bps ?? now?.goodput_bps ?? 0;
            return (
              <tr key={name}>
                <Choice
                  name={name}
                  at={at}
                  isFull={shown.length >= MOST_FLOWS}
                  onChange={() => toggle("flow", run, flow)}
                />
                <td>{rate(goodput)}</td>
                <td>{short(Math.round(now?.cwnd_segments ?? Number.NaN))}</td>
                <td>{time(Number((now?.srtt_s ?? Number.NaN).toPrecision(3)))}</td>
                <td class={now && now.state !== "open" && now.state !== "" && !summary ? "repairs" : ""}>
                  {grouped(now?.lost ?? 0)}
                </td>
              </tr>
            );
          })}
        </Table>
      </div>
      {run.started.flows.length > ROWS && (
        <p class="quiet">
          The first {ROWS} of {grouped(run.started.flows.length)} flows.
        </p>
      )}
    </section>
  );
}

/** The name of a flow or a link, chosen or not: `at` is its index among the items with a line, or -1. */
function Choice(props: { name: string; at: number; isFull: boolean; onChange: () => void }) {
  const { name, at, isFull, onChange } = props;
  return (
    <th scope="row">
      <label>
        <input type="checkbox" checked={at >= 0} disabled={at < 0 && isFull} onChange={onChange} />
        <span class={at >= 0 ? `ink-${SERIES[at % SERIES.length]}` : "quiet"} aria-hidden="true">
          ■
        </span>
        <Name name={name} />
      </label>
    </th>
  );
}

function Links({ run }: { run: Live }) {
  const shown = linksOf(run);
  const most = new Map(run.queues.value.map(({ link, most }) => [link, most]));
  const order = run.started.links
    .map((_, link) => link)
    .sort((a, b) => (most.get(b) ?? 0) - (most.get(a) ?? 0) || a - b);
  const summary = run.result.value?.summary;
  return (
    <section class="panel links">
      <h2>Links</h2>
      <div class="scroll">
        <Table label="Links" heads={summary ? [...LINK_HEADS, "Busy"] : LINK_HEADS}>
          {order.slice(0, ROWS).map((link) => {
            const name = run.started.links[link] ?? "";
            const at = shown.indexOf(link);
            const told = summary?.links.find((other) => other.name === name);
            return (
              <tr key={name}>
                <Choice
                  name={name}
                  at={at}
                  isFull={shown.length >= MOST_LINKS}
                  onChange={() => toggle("link", run, link)}
                />
                <td>{grouped(most.get(link) ?? 0)}</td>
                {summary && <td>{told ? percent(told.utilisation) : "–"}</td>}
              </tr>
            );
          })}
        </Table>
      </div>
      {order.length > ROWS && (
        <p class="quiet">
          The {ROWS} longest queues of {grouped(order.length)} links.
        </p>
      )}
      {run.thinned.value && <p class="quiet">To bound memory, {run.thinned.value}.</p>}
    </section>
  );
}
