/** Results, studies and scenarios below the folders, as a table. */

import { batch, computed, signal, useSignalEffect } from "@preact/signals";
import type { Entry, Found } from "./api.ts";
import { isThere, openReport, said, server, work } from "./machine.ts";
import { openScenario } from "./opening.ts";
import { arranged, type Key } from "./table.ts";

/** Rows that are shown until more are asked for. */
const ROWS = 200;
const COLUMNS: [Key, string][] = [
  ["name", "Name"],
  ["scenario", "Scenario"],
  ["kind", "Kind"],
  ["date", "Date (UTC)"],
  ["hash", "Hash"],
];
const KINDS = ["run", "comparison", "study", "reproduction", "study file", "scenario"];

const found = signal<Found | undefined>(undefined);
const fault = signal("");
const words = signal("");
const kind = signal("");
const by = signal<Key>("date");
const isDown = signal(true);
const isWhole = signal(false);
const rows = computed(() => arranged(found.value?.entries ?? [], words.value, kind.value, by.value, isDown.value));
/** How many results tasks have written: when there is another, the table is read again. */
const written = computed(() => work().all.value.reduce((sum, task) => sum + task.written.value.length, 0));

let asked = 0;

/** Reads the table. An answer that comes after that to a later request is of an older list. */
async function load(): Promise<void> {
  const number = ++asked;
  try {
    const now = await server().results();
    if (number === asked) {
      found.value = now;
      fault.value = "";
    }
  } catch (error) {
    if (number === asked) {
      fault.value = said(error);
    }
  }
}

export function Results() {
  useSignalEffect(() => {
    void written.value;
    if (isThere.value) {
      void load();
    }
  });
  const shown = isWhole.value ? rows.value : rows.value.slice(0, ROWS);
  return (
    <section class="panel results-here" aria-labelledby="results-here">
      <div class="finding">
        <h2 id="results-here">Results</h2>
        <label>
          Filter{" "}
          <input
            type="search"
            value={words.value}
            placeholder="name, scenario, hash …"
            onInput={(event) => {
              words.value = event.currentTarget.value;
            }}
          />
        </label>
        <label>
          Kind{" "}
          <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value)}>
            <option value="">all</option>
            {KINDS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <span class="quiet" role="status">
          {found.value ? `${rows.value.length} of ${found.value.entries.length}` : "…"}
          {found.value?.more && " (there are more; name a folder further down with --folder)"}
        </span>
        <button type="button" onClick={() => void load()}>
          Read again
        </button>
      </div>
      {fault.value && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="The table of results">
        <table aria-label="Results">
          <thead>
            <tr>
              {COLUMNS.map(([key, name]) => (
                <Head key={key} column={key} name={name} />
              ))}
              <th scope="col">Open</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry) => (
              <Row key={entry.place} entry={entry} />
            ))}
          </tbody>
        </table>
      </section>
      {found.value && rows.value.length === 0 && (
        <p class="quiet">
          {found.value.entries.length === 0
            ? "Nothing is in the folders yet: start a run above."
            : "Nothing has all these words."}
        </p>
      )}
      {shown.length < rows.value.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {rows.value.length}
        </button>
      )}
    </section>
  );
}

function Head({ column, name }: { column: Key; name: string }) {
  const isBy = by.value === column;
  return (
    <th scope="col" aria-sort={isBy ? (isDown.value ? "descending" : "ascending") : undefined}>
      <button
        type="button"
        class="plain"
        onClick={() =>
          batch(() => {
            isDown.value = isBy ? !isDown.value : column === "date";
            by.value = column;
          })
        }
      >
        {name} <span aria-hidden="true">{isBy ? (isDown.value ? "▼" : "▲") : ""}</span>
      </button>
    </th>
  );
}

function Row({ entry }: { entry: Entry }) {
  const { place, name, scenario, date, hash } = entry;
  const isStopped = entry.interrupted === true || entry.complete === false;
  const attempt = async (what: () => Promise<unknown>) => {
    try {
      await what();
      fault.value = "";
    } catch (error) {
      fault.value = `${name}: ${said(error)}`;
    }
  };
  const hasReport = entry.kind !== "scenario" && entry.kind !== "study file";
  const hasScenario = entry.kind === "scenario" || entry.kind === "run";
  return (
    <tr>
      <th scope="row" title={place}>
        {name}
      </th>
      <td>{scenario ?? "–"}</td>
      <td>
        {entry.kind}
        {isStopped && <span class="quiet"> (interrupted)</span>}
      </td>
      <td>
        <time dateTime={date}>{date.slice(0, 16).replace("T", " ")}</time>
      </td>
      <td>{hash ? <code title={hash}>{hash.slice(0, 12)}</code> : "–"}</td>
      <td>
        <span class="buttons">
          {hasReport && (
            <button
              type="button"
              aria-label={`Report of ${name}`}
              onClick={() => void attempt(() => openReport(entry))}
            >
              Report
            </button>
          )}
          {hasScenario && (
            <button
              type="button"
              aria-label={`Scenario of ${name}`}
              onClick={() => void attempt(() => openScenario(entry))}
            >
              Scenario
            </button>
          )}
          {entry.kind === "study file" && (
            <>
              <button
                type="button"
                aria-label={`Run ${name}`}
                title="Make the runs that its store does not hold yet"
                onClick={() => void work().start({ op: "study", study: place }, name)}
              >
                Run
              </button>
              <button
                type="button"
                aria-label={`Watch ${name}`}
                title="See how far it is, whoever runs it"
                onClick={() => void work().start({ op: "watch", study: place }, name)}
              >
                Watch
              </button>
            </>
          )}
        </span>
      </td>
    </tr>
  );
}
