import "./causes.css";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault } from "../../app/fault.tsx";
import { Prose } from "../../app/name.tsx";
import { elsewhere } from "../../app/state.ts";
import { Scrolled, Table } from "../../app/table.tsx";
import { tell } from "../../app/told.tsx";
import { pool } from "../../engine/here.ts";
import { Pool } from "../../engine/pool.ts";
import { Remote } from "../../engine/remote.ts";
import type { Live } from "../live.ts";
import type { Result } from "../messages.ts";
import { Measuring } from "./measuring.ts";

/** Maximum number of simultaneous runs. */
const WORKERS = 8;

/** Measurements by the result of their run. */
const measurements = new WeakMap<Result, Measuring>();

function engines(): Pool {
  const native = elsewhere.peek();
  return native
    ? new Pool(Array.from({ length: Math.min(WORKERS, native.cores) }, () => new Remote(native.address)))
    : pool(Math.min(WORKERS, navigator.hardwareConcurrency || 2));
}

function measuringOf(live: Live, result: Result): Measuring {
  const known = measurements.get(result) ?? new Measuring(live.input, result.summary, engines);
  measurements.set(result, known);
  return known;
}

/** The causes of a run's speed, measured by runs without each of them. */
export function Causes({ live }: { live: Live }) {
  const result = live.result.value;
  return result && result.account.flows.length > 0 && !result.failed ? (
    <Measured
      measuring={measuringOf(live, result)}
      names={live.started.flows}
      flows={result.account.flows.map(first)}
    />
  ) : null;
}

function Measured({ measuring, names, flows }: { measuring: Measuring; names: readonly string[]; flows: string[] }) {
  const flow = useSignal("");
  // A new result has other causes.
  useEffect(() => () => measuring.cancel(), [measuring]);
  const start = async () => {
    await measuring.measure(flow.peek() || undefined);
    const [, cause] = measuring.causes.peek()?.sentences ?? [];
    if (cause) {
      tell(cause);
    }
  };
  const isRunning = measuring.isRunning.value;
  const { done, all } = measuring;
  return (
    <div class="causes">
      <div class="steering">
        {flows.length > 1 && (
          <label>
            Flow
            <select
              value={flow.value}
              disabled={isRunning}
              onChange={(event) => {
                flow.value = event.currentTarget.value;
              }}
            >
              <option value="">the slowest one</option>
              {flows.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        {/* A single button, so that the focus stays on it. */}
        <button type="button" onClick={() => (isRunning ? measuring.cancel() : void start())}>
          {isRunning ? "Cancel" : "Measure the causes"}
        </button>
        {isRunning && (
          <>
            <progress aria-label="Runs" {...(all.value > 0 ? { max: all.value, value: done.value } : {})} />
            <span class="quiet">
              {done.value}
              {all.value > 0 && ` of ${all.value}`} runs
            </span>
          </>
        )}
      </div>
      <Told measuring={measuring} names={names} />
    </div>
  );
}

function Told({ measuring, names }: { measuring: Measuring; names: readonly string[] }) {
  const causes = measuring.causes.value;
  if (!causes) {
    return measuring.fault.value ? (
      <Fault>{measuring.fault.value}</Fault>
    ) : (
      <p class="quiet">The scenario runs again without each possible cause, with the same seeds.</p>
    );
  }
  const {
    headline,
    sentences: [, ...sentences],
    table,
  } = causes;
  return (
    <>
      <ul class="sentences">
        {[headline, ...sentences].map((sentence) => (
          <li key={sentence}>
            <Prose text={sentence} names={names} />
          </li>
        ))}
      </ul>
      {table.rows.length > 0 && (
        <Scrolled label="Effects of the causes">
          <Table label={table.title} heads={table.columns}>
            {table.rows.map(([cause, ...cells]) => (
              <tr key={cause}>
                <th scope="row">{cause}</th>
                {cells.map((cell, at) => (
                  <td key={table.columns[at + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </Table>
        </Scrolled>
      )}
    </>
  );
}

function first([name]: readonly [string, ...unknown[]]): string {
  return name;
}
