/** Results, studies and scenarios in the directories, as a table. */

import { batch, computed, signal, useSignalEffect } from "@preact/signals";
import { Fault } from "../app/fault.tsx";
import { Options } from "../app/fields.tsx";
import { Scrolled } from "../app/table.tsx";
import type { Entry, Found } from "./api.ts";
import { isThere, said, server, work } from "./machine.ts";
import { Openers } from "./openers.tsx";
import { arranged, type Key } from "./table.ts";

/** Number of rows that are shown until more are requested. */
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
/** Number of results that tasks have written: when it grows, the table is read again. */
const written = computed(() => work().all.value.reduce((sum, task) => sum + task.written.value.length, 0));

let requests = 0;

/** Reads the table. A response that arrives after the response to a later request is stale. */
async function load(): Promise<void> {
  const number = ++requests;
  try {
    const now = await server().results();
    if (number === requests) {
      found.value = now;
      fault.value = "";
    }
  } catch (error) {
    if (number === requests) {
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
            <Options options={KINDS} />
          </select>
        </label>
        <span class="quiet" role="status">
          {found.value ? `${rows.value.length} of ${found.value.entries.length}` : "…"}
          {found.value?.more && " (the list is incomplete; give a subdirectory with --folder)"}
        </span>
        <button type="button" onClick={() => void load()}>
          Refresh
        </button>
      </div>
      <Fault>{fault.value}</Fault>
      <Scrolled label="Table of results">
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
      </Scrolled>
      {found.value && rows.value.length === 0 && (
        <p class="quiet">
          {found.value.entries.length === 0
            ? "The directories are empty: start a run above."
            : "No entry matches the filter."}
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
          <Openers
            entry={entry}
            hasReport={entry.kind !== "scenario" && entry.kind !== "study file"}
            hasScenario={entry.kind === "scenario" || entry.kind === "run"}
            fail={(why) => (fault.value = why && `${name}: ${why}`)}
          />
          {entry.kind === "study file" && (
            <>
              <button
                type="button"
                aria-label={`Run ${name}`}
                title="Make the runs that are missing from its store"
                onClick={() => void work().start({ op: "study", study: place }, name)}
              >
                Run
              </button>
              <button
                type="button"
                aria-label={`Watch ${name}`}
                title="Show its progress, even if it runs elsewhere"
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
