/** Active and finished tasks, with their progress and results. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { Fault } from "../app/fault.tsx";
import { Cross } from "../app/fields.tsx";
import { live } from "../app/state.ts";
import { Table } from "../app/table.tsx";
import { tell } from "../app/told.tsx";
import { work } from "./machine.ts";
import { Openers } from "./openers.tsx";
import type { Status, Task, Written } from "./tasks.ts";

/** Seeds whose results are listed. */
const SHOWN = 20;
const OPS = { run: "Run", compare: "Comparison", study: "Study", watch: "Study" };

export function TaskList() {
  const all = work().all.value;
  return (
    <section class="panel tasks" aria-labelledby="tasks">
      <h2 id="tasks">Tasks</h2>
      {all.length === 0 && (
        <p class="quiet">
          Tasks that you start or watch appear here. They end when this page is closed; records so far are stored.
        </p>
      )}
      <ul>
        {all.map((task) => (
          <li key={task.id}>
            <Card task={task} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Card({ task }: { task: Task }) {
  const { standing, total, written, warnings, faults, status, done, isOver } = task;
  const name = `${OPS[task.op]} ${status.value?.study ?? task.name}`;
  const isRun = task.op === "run";
  useSignalEffect(() => {
    if (task.isOver) {
      tell(`${name}: ${standing.value}.`);
    }
  });
  const far = isRun && total.value === 1 ? `${Math.floor(100 * done)} %` : `${Math.floor(done)} of ${total.value} runs`;
  return (
    <article class={`task ${standing.value}`} aria-label={name}>
      <header>
        <h3>{name}</h3>
        {/* Its end is announced with the name of the task. */}
        <span class="standing-of" role="status" aria-live="off">
          {standing}
        </span>
        {isOver ? (
          <Cross label={`Remove ${name} from the list`} act={() => work().forget(task)} />
        ) : (
          <button type="button" aria-disabled={standing.value === "ending"} onClick={() => work().cancel(task)}>
            {task.op === "watch" ? "Stop watching" : "Cancel"}
          </button>
        )}
      </header>
      <div class="far">
        <progress aria-label={`Progress of ${name}`} max={total.value || 1} value={done} />
        <span class="mono">{far}</span>
      </div>
      {faults.value.map((fault) => (
        <Fault key={fault}>{fault}</Fault>
      ))}
      {warnings.value.length > 0 && (
        <details>
          <summary>{warnings.value.length === 1 ? "1 note" : `${warnings.value.length} notes`}</summary>
          <ul class="notes">
            {warnings.value.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
      {status.value && <Study status={status.value} />}
      <ul class="written">
        {written.value.slice(0, SHOWN).map((one) => (
          <li key={one.place}>
            <Result written={one} isRun={isRun} />
          </li>
        ))}
        {written.value.length > SHOWN && (
          <li class="quiet">and {written.value.length - SHOWN} more in the table of results</li>
        )}
      </ul>
    </article>
  );
}

function Result({ written, isRun }: { written: Written; isRun: boolean }) {
  const fault = useSignal("");
  const { place, seed, result_hash: hash, interrupted, wall_s } = written;
  const name = place?.split("/").at(-1) ?? "results";
  const inPage = live.value?.result.value?.summary;
  const isSame = hash !== undefined && inPage?.result_hash === hash;
  return (
    <>
      <strong>{name}</strong>
      {seed !== undefined && <span class="quiet">seed {seed}</span>}
      {hash && <code class="hash">{hash}</code>}
      {wall_s !== undefined && <span class="quiet">{wall_s.toPrecision(3)} s</span>}
      {(interrupted || written.complete === false) && <span class="quiet">interrupted</span>}
      {isSame && <span class="same">✓ the same hash as the run in this page</span>}
      {place && (
        <span class="buttons">
          <Openers entry={{ place, name }} hasReport hasScenario={isRun} fail={(why) => (fault.value = why)} />
        </span>
      )}
      <Fault>{fault.value}</Fault>
    </>
  );
}

function Study({ status }: { status: Status }) {
  const failures = Object.values(status.failures);
  return (
    <>
      {failures.length > 0 && (
        <p class="fault">
          {failures.length === 1 ? "1 run" : `${failures.length} runs`} failed, for example: {failures[0]}
        </p>
      )}
      <details>
        <summary>Cells</summary>
        <div class="scroll">
          <Table label="Cells" heads={["Algorithm", "Point", "Runs", "Target"]}>
            {status.cells.map(({ congestion, point, finished, seeds, reached }) => (
              <tr key={`${congestion} ${JSON.stringify(point)}`}>
                <th scope="row">{congestion}</th>
                <td>{point.map(shownPoint).join(", ") || "–"}</td>
                <td>
                  {finished} of {seeds}
                </td>
                <td>{reached === null ? "–" : reached ? "reached" : "not yet"}</td>
              </tr>
            ))}
          </Table>
        </div>
        {status.more > 0 && <p class="quiet">and {status.more} more cells</p>}
      </details>
    </>
  );
}

function shownPoint(value: unknown): string {
  return Array.isArray(value)
    ? value.map(String).join(" = ")
    : typeof value === "object"
      ? JSON.stringify(value)
      : `${value}`;
}
