/** Starts native runs and comparisons of the page's scenario. */

import { signal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { about, files, isSound, title, toml } from "../app/state.ts";
import { isThere, machine, work } from "./machine.ts";
import { seedsOf } from "./table.ts";
import type { Asking } from "./tasks.ts";

const op = signal<"run" | "compare">("run");
const seedsText = signal("");
const duration = signal("");
const threads = signal(1);
const jobs = signal<number | undefined>(undefined);
const replications = signal(10);
const firstSeed = signal("");
const chosen = signal<readonly string[]>(["newreno", "cubic", "hybla", "bbr"]);
/** Maximum number of threads that the server accepts. */
const MOST_THREADS = 1024;

export function Starting() {
  const isRun = op.value === "run";
  const wrong = mistake();
  const cores = machine.value?.cores ?? 1;
  return (
    <section class="panel starting" aria-labelledby="starting">
      <h2 id="starting">Start {title} on this machine</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!mistake() && event.currentTarget.reportValidity()) {
            work().start(asking(), title.peek());
          }
        }}
      >
        <fieldset class="choice">
          <legend class="unseen">Type of task</legend>
          {(["run", "compare"] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="native-op" checked={op.value === one} onChange={() => (op.value = one)} />{" "}
              {one === "run" ? "Run" : "Compare algorithms"}
            </label>
          ))}
        </fieldset>
        <div class="fields">
          {isRun ? (
            <Field name="Seeds" hint="such as 1-5, 9; empty: the scenario's seed" value={seedsText} />
          ) : (
            <>
              <NumberField name="Seeds per algorithm" least={1} most={1_000_000} value={replications} />
              <Field name="First seed" hint="empty: the scenario's seed" value={firstSeed} />
            </>
          )}
          <Field name="Duration" hint="such as 20 s; empty: the scenario's duration" value={duration} />
          {isRun && <NumberField name="Threads per run" least={1} most={MOST_THREADS} value={threads} />}
          <NumberField name="Parallel runs" least={1} most={MOST_THREADS} value={jobs} instead={cores} />
        </div>
        {!isRun && <Algorithms />}
        <Fault>{wrong}</Fault>
        <p class="go">
          <button type="submit" class="primary" disabled={!isSound.value || !isThere.value || wrong !== ""}>
            {isRun ? "Run on this machine" : "Compare on this machine"}
          </button>
          <span class="quiet">
            {isThere.value
              ? isSound.value
                ? "Results are saved in a new directory."
                : "The scenario has errors; the Scenario view shows them."
              : "This machine does not respond."}
          </span>
        </p>
      </form>
    </section>
  );
}

function Algorithms() {
  return (
    <fieldset class="algorithms">
      <legend>Algorithms</legend>
      <div>
        {(about.value?.congestion ?? []).map(({ name, about: says }) => (
          <label key={name} title={says}>
            <input
              type="checkbox"
              checked={chosen.value.includes(name)}
              onChange={(event) => {
                const others = chosen.peek().filter((other) => other !== name);
                chosen.value = event.currentTarget.checked ? [...others, name] : others;
              }}
            />{" "}
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Field({ name, hint, value }: { name: string; hint: string; value: { value: string } }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="text"
        value={value.value}
        aria-describedby={`${id}-hint`}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
      <span class="quiet" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}

interface Whole {
  name: string;
  least: number;
  most: number;
  value: { value: number | undefined };
  instead?: number;
}

function NumberField({ name, least, most, value, instead }: Whole) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="number"
        required={instead === undefined}
        min={least}
        max={most}
        step={1}
        value={value.value ?? ""}
        placeholder={instead === undefined ? "" : String(instead)}
        onInput={(event) => {
          const wanted = event.currentTarget.valueAsNumber;
          value.value = Number.isNaN(wanted) ? (instead === undefined ? least : undefined) : wanted;
        }}
      />
    </div>
  );
}

/** Returns the reason why the task cannot start; empty if there is none. */
function mistake(): string {
  const seeds = seedsOf(op.value === "run" ? seedsText.value : firstSeed.value);
  if (typeof seeds === "string") {
    return `Seeds: ${seeds}.`;
  }
  if (op.value === "compare" && seeds.length > 1) {
    return "First seed: enter one whole number.";
  }
  return op.value === "compare" && chosen.value.length < 2 ? "Select at least two algorithms." : "";
}

function asking(): Asking {
  const common = {
    files: files.peek(),
    ...(duration.peek().trim() ? { duration: duration.peek().trim() } : {}),
    ...(jobs.peek() === undefined ? {} : { jobs: jobs.peek() }),
  };
  if (op.peek() === "run") {
    return { op: "run", scenario: toml.peek(), seeds: seedsOf(seedsText.peek()), threads: threads.peek(), ...common };
  }
  const [seed] = seedsOf(firstSeed.peek());
  return {
    op: "compare",
    scenarios: [toml.peek()],
    congestion: chosen.peek(),
    replications: replications.peek(),
    ...(seed === undefined ? {} : { seed }),
    ...common,
  };
}
