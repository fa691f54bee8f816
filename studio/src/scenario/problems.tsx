import { computed, signal } from "@preact/signals";
import { fault } from "../app/checking.ts";
import { Fault } from "../app/fault.tsx";
import { Prose } from "../app/name.tsx";
import { about, checked } from "../app/state.ts";
import type { Advice, Problem } from "../engine/protocol.ts";
import { nodeNames, tables } from "./network.ts";
import { refusal, values } from "./values.ts";

/** Part of the text that the editor shows next. */
export const jump = signal<{ from: number; to: number } | undefined>(undefined);

/** Errors and warnings by their path. */
export const messages = computed(() => {
  const all = new Map<string, { message: string; isError: boolean }[]>();
  const add = ({ path, message }: Problem, isError: boolean) => {
    const where = asWritten(path);
    all.set(where, [...(all.get(where) ?? []), { message, isError }]);
  };
  for (const problem of checked.value?.errors ?? []) {
    add(problem, true);
  }
  for (const advice of checked.value?.warnings ?? []) {
    add(advice, false);
  }
  return all;
});

/** Returns the path as in the text: `congestion` of a flow is short for `tcp.congestion`. */
function asWritten(path: string): string {
  const [, flow] = /^(flows\[\d+\])\.tcp\.congestion$/.exec(path) ?? [];
  const index = Number(flow?.slice(6, -1));
  const isShort = flow !== undefined && "congestion" in (tables(values.value.now.flows)[index] ?? {});
  return isShort ? `${flow}.congestion` : path;
}

/** State of the scenario, in a few words. */
export function Standing() {
  const { errors, warnings, flows, links } = checked.value ?? {};
  const parts: string[] = [];
  if (errors?.length) {
    parts.push(count(errors.length, "error"));
  } else if (errors) {
    parts.push(count(flows ?? 0, "flow"), ...(links ? [count(links, "link")] : []));
  }
  if (warnings?.length) {
    parts.push(count(warnings.length, "warning"));
  }
  const state = errors === undefined ? "waits" : errors.length > 0 ? "bad" : warnings?.length ? "warn" : "good";
  return (
    <p class={`standing ${state}`} role="status">
      {errors === undefined ? "checking …" : parts.join(" · ")}
    </p>
  );
}

/** All errors and warnings; each leads to its position in the text. */
export function Problems() {
  const { errors = [], warnings = [] } = checked.value ?? {};
  const kinds = new Map(about.value?.warnings);
  return (
    <div class="problems">
      <Fault>{fault.value}</Fault>
      <Fault>{refusal.value && `The form cannot apply this change: ${refusal.value}`}</Fault>
      {errors.length + warnings.length > 0 && (
        <ul aria-label="Errors and warnings">
          {errors.map((problem) => (
            <Row key={problem.path + problem.message} problem={problem} />
          ))}
          {warnings.map((advice) => (
            <Row key={advice.path + advice.kind} problem={advice} advice={advice} lesson={kinds.get(advice.kind)} />
          ))}
        </ul>
      )}
      {!values.value.isCurrent && errors.length > 0 && (
        <p class="quiet small">The form shows the last valid values until the text is valid TOML again.</p>
      )}
    </div>
  );
}

interface RowProps {
  problem: Problem;
  advice?: Advice;
  lesson?: string | undefined;
}

function Row({ problem, advice, lesson }: RowProps) {
  const { from, to } = problem;
  return (
    <li class={advice ? "warn" : "bad"}>
      <button
        type="button"
        class="plain where"
        disabled={from === undefined}
        onClick={() => {
          if (from !== undefined) {
            jump.value = { from, to: to ?? from };
          }
        }}
      >
        <span class="sign" aria-hidden="true">
          {advice ? "▲" : "●"}
        </span>
        <span class="unseen">{advice ? "Warning at" : "Error at"}</span>
        <code>{problem.path || "scenario"}</code>
      </button>
      <p>
        <Prose text={problem.message} names={nodeNames.value} />
      </p>
      {lesson && (
        <details>
          <summary>{advice?.kind}</summary>
          <p>{lesson}</p>
        </details>
      )}
    </li>
  );
}

function count(number: number, word: string): string {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}
