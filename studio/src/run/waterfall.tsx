/** The waterfall of a page: a bar for each object, and the bytes that had arrived, at the end of a run. */

import "./waterfall.css";
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Options } from "../app/fields.tsx";
import { Name, Prose } from "../app/name.tsx";
import { general, size } from "../app/numbers.ts";
import { live, title } from "../app/state.ts";
import { Scrolled, Table } from "../app/table.tsx";
import { isDark } from "../app/theme.ts";
import { csv } from "../save/csv.ts";
import { download, type NamedFile } from "../save/download.ts";
import { figureFile } from "../save/files.ts";
import type { PageFlow, PageLoad } from "../save/pages.ts";
import {
  drawnWaterfall,
  factsOf,
  MAX_ROWS,
  PARTS,
  ROW,
  saysOf,
  saysOfObject,
  sheetOf,
  TOP,
} from "../save/waterfall.ts";
import { figureOf, rowAfter, shownLoad } from "./loads.ts";

/** Minimum width of the chart in pixels; a narrower panel scrolls. */
const MIN_WIDTH = 320;
/** Maximum number of flows that can be selected. */
const MAX_FLOWS = 500;
const HINT =
  "Each colour is a connection. Below the bars: the fraction of the bytes that had arrived. " +
  "Point at an object for its details.";

export default function Waterfall() {
  const choice = useSignal<{ flow: number; page: number } | undefined>(undefined);
  const fault = useSignal("");
  useEffect(
    () => () => {
      shownLoad.value = undefined;
    },
    [],
  );
  useSignalEffect(() => {
    const run = live.value;
    const { flow, page } = chosen(run?.result.value?.pages ?? [], choice.value);
    shownLoad.value = undefined;
    fault.value = "";
    if (!run?.result.value || flow === undefined || page === undefined) {
      return;
    }
    run.page(flow, page).then(
      (load) => {
        if (live.peek() === run && load.page === page && load.flow === run.started.flows[flow]) {
          shownLoad.value = load;
        }
      },
      (error: unknown) => {
        fault.value = error instanceof Error ? error.message : String(error);
      },
    );
  });
  const run = live.value;
  const pages = run?.result.value?.pages ?? [];
  const load = shownLoad.value;
  const names = run?.started.flows ?? [];
  const { flow, page, loads } = chosen(pages, choice.value);
  return (
    <section class="waterfall panel" aria-labelledby="waterfall">
      <header>
        <h2 id="waterfall">Waterfall</h2>
        {pages.length > 1 && (
          <label>
            Flow{" "}
            <select
              value={String(flow)}
              onChange={({ currentTarget }) => {
                choice.value = { flow: Number(currentTarget.value), page: 1 };
              }}
            >
              <Options
                options={pages.slice(0, MAX_FLOWS).map((one) => [String(one.flow), names[one.flow] ?? ""] as const)}
              />
            </select>
          </label>
        )}
        {loads.length > 1 && (
          <label>
            Load{" "}
            <select
              value={String(page)}
              onChange={({ currentTarget }) => {
                choice.value = { flow: flow ?? 0, page: Number(currentTarget.value) };
              }}
            >
              <Options options={loads.map(String)} />
            </select>
          </label>
        )}
        {load && <Savers load={load} fault={fault} />}
      </header>
      <Fault>{fault.value}</Fault>
      {load && (
        <>
          <p>
            <Name name={load.flow} />: {factsOf(load).join("; ")}.
          </p>
          <Legend />
          <Bars key={`${load.flow} ${load.page}`} load={load} />
          <Numbers load={load} />
        </>
      )}
    </section>
  );
}

/** Returns the flow and the load that are shown: those chosen if the run has them, otherwise the first ones. */
function chosen(
  pages: PageFlow[],
  choice: { flow: number; page: number } | undefined,
): { flow: number | undefined; page: number | undefined; loads: number[] } {
  const own = pages.find(({ flow }) => flow === choice?.flow) ?? pages[0];
  const loads = own?.pages ?? [];
  return { flow: own?.flow, page: loads.find((load) => load === choice?.page) ?? loads[0], loads };
}

function Savers({ load, fault }: { load: PageLoad; fault: Signal<string> }) {
  const figure = figureOf(load);
  const save = async (make: () => NamedFile | Promise<NamedFile>) => {
    fault.value = "";
    try {
      download(await make());
    } catch (error) {
      fault.value = `Not saved: ${error instanceof Error ? error.message : error}`;
    }
  };
  const table = (): NamedFile => {
    const name = `${title.value}-${figure.title.toLowerCase()}.csv`;
    return { name, content: csv(sheetOf(load)), type: "text/csv" };
  };
  return (
    <span class="buttons">
      <button type="button" onClick={() => void save(() => figureFile(title.value, figure, "svg"))}>
        Save SVG
      </button>
      <button type="button" onClick={() => void save(() => figureFile(title.value, figure, "png"))}>
        Save PNG
      </button>
      <button type="button" onClick={() => void save(table)}>
        Save CSV
      </button>
    </span>
  );
}

function Legend() {
  return (
    <ul class="legend">
      {PARTS.map(({ name, height, opacity }, at) => (
        <li key={name}>
          <svg viewBox="0 0 22 12" aria-hidden="true">
            <rect class={at === 0 ? "queued" : ""} y={6 - height / 2} width="22" height={height} opacity={opacity} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

/** The chart. The pointer or the arrow keys select an object, which is described below. */
function Bars({ load }: { load: PageLoad }) {
  const host = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const row = useSignal<number | undefined>(undefined);
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      width.value = Math.max(MIN_WIDTH, Math.floor(entry?.contentRect.width ?? 0));
    });
    if (host.current) {
      sizes.observe(host.current);
    }
    return () => sizes.disconnect();
  }, [width]);
  const rows = Math.min(load.objects.length, MAX_ROWS);
  return (
    <>
      <div
        ref={host}
        class="bars"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys select an object
        tabIndex={0}
        aria-label={`${saysOf(load)} Arrow keys select an object. The table below has the same information.`}
        aria-describedby="waterfall-object"
        onPointerMove={({ clientY, currentTarget }) => {
          const at = Math.floor((clientY - currentTarget.getBoundingClientRect().top - TOP) / ROW);
          row.value = at >= 0 && at < rows ? at : undefined;
        }}
        onPointerLeave={() => {
          row.value = undefined;
        }}
        onKeyDown={(event) => {
          const next = rowAfter(event.key, row.peek(), rows);
          if (next !== null) {
            event.preventDefault();
            event.stopPropagation();
            row.value = next;
            const chart = event.currentTarget;
            requestAnimationFrame(() => chart.querySelector(".row")?.scrollIntoView({ block: "nearest" }));
          }
        }}
      >
        <Drawn load={load} width={width} />
        <Selected row={row} />
      </div>
      <Under load={load} row={row} />
    </>
  );
}

function Drawn({ load, width }: { load: PageLoad; width: Signal<number> }) {
  if (width.value === 0) {
    return null;
  }
  const svg = drawnWaterfall(figureOf(load), { width: width.value, isDark: isDark(), head: "nothing" });
  // The renderer escapes every text.
  return <div dangerouslySetInnerHTML={{ __html: svg }} />;
}

function Selected({ row }: { row: Signal<number | undefined> }) {
  const at = row.value;
  return at === undefined ? null : (
    <div class="row" style={{ height: `${ROW}px`, transform: `translateY(${TOP + ROW * at}px)` }} />
  );
}

function Under({ load, row }: { load: PageLoad; row: Signal<number | undefined> }) {
  const one = load.objects[row.value ?? -1];
  return (
    <p class="under" id="waterfall-object" role="status">
      {one ? <Prose text={saysOfObject(one)} names={[one.name, one.connection]} /> : HINT}
    </p>
  );
}

const HEADS = ["Object", "Connection", "Size", "Known", "Requested", "First byte", "Complete"];

/** The text alternative: the times of the objects since the start of the load. */
function Numbers({ load }: { load: PageLoad }) {
  const isOpen = useSignal(false);
  return (
    <details class="numbers" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Values</summary>
      {isOpen.value && (
        <Scrolled label="Times of the objects" kind="wide">
          <Table label="Objects of the page" heads={HEADS}>
            {load.objects.map((one, at) => (
              <tr key={at}>
                <th scope="row">
                  <Name name={one.name} />
                </th>
                <td>
                  <Name name={one.connection} />
                </td>
                <td>{size(one.bytes)}</td>
                {[one.known_s, one.start_s, one.firstByte_s, one.end_s].map((time_s, column) => (
                  <td key={column}>{general(time_s, 4)} s</td>
                ))}
              </tr>
            ))}
          </Table>
        </Scrolled>
      )}
    </details>
  );
}
