import { expect, test } from "vitest";
import type { Request } from "../engine/protocol.ts";
import { Course } from "./course.ts";
import type { FromCourse } from "./messages.ts";

/** An answer of the engine. */
function answer(head: unknown): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const bytes = new Uint8Array(Math.ceil((4 + text.length) / 8) * 8);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  return bytes.buffer;
}

/** An engine of which each event takes a hundredth of a second of the run, up to 10 s. */
function fake(ask?: (request: Request) => ArrayBuffer) {
  let clock = 0;
  let events = 0;
  const steps: Request[] = [];
  const told: FromCourse[] = [];
  const engine = {
    ask: (request: Request): ArrayBuffer => {
      if (request.op === "start") {
        return answer({ run: 0, end_s: 10, seed: 1, flows: ["a"], links: [], nodes: [] });
      }
      if (request.op === "step") {
        steps.push(request);
        const until = Math.floor(request.until_s * 100 + 1e-9);
        events = Math.min(events + (request.events ?? 1e9), Math.max(events, until));
        return answer({ now_s: events / 100, events, over: events >= 1000, tables: {} });
      }
      const summary = { simulated_s: 10, flows: [], links: [], scenario: { record: { trace: "off" } } };
      return answer({ summary, interrupted: false, tables: {}, captures: [] });
    },
  };
  const around = {
    post: (message: FromCourse) => told.push(message),
    clock: () => clock,
    rest: async (milliseconds: number) => {
      clock += milliseconds || 1;
    },
  };
  return { course: new Course(ask ? { ask } : engine, around), told, steps };
}

test("a run goes on to its end, and tells its result once", async () => {
  const { course, told } = fake();
  await course.receive({ kind: "start", asked: { toml: "" } });
  await course.receive({ kind: "go", how: "on" });
  expect(told.map(({ kind }) => kind).filter((kind) => kind === "finished")).toHaveLength(1);
  expect(told.at(-1)).toMatchObject({ kind: "finished", now_s: 10, result: { account: { flows: [] } } });
});

test("a run with a pace follows the clock", async () => {
  const { course, told } = fake();
  await course.receive({ kind: "start", asked: { toml: "" } });
  await course.receive({ kind: "pace", speed: 10 });
  await course.receive({ kind: "go", how: "on" });
  const times = told.flatMap((message) => (message.kind === "news" ? [message.now_s] : []));
  const gaps = times.slice(1, -2).map((time, at) => time - (times[at] as number));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(0.17);
  expect(times.length).toBeGreaterThan(50);
});

test("one step is one event", async () => {
  const { course, told, steps } = fake();
  await course.receive({ kind: "start", asked: { toml: "" } });
  await course.receive({ kind: "go", how: "one step" });
  expect(steps).toEqual([{ op: "step", run: 0, until_s: 10, events: 1 }]);
  expect(told.at(-1)).toMatchObject({ kind: "news", state: "paused", now_s: 0.01 });
});

test("a trap is one clear error", async () => {
  const { course, told } = fake(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });
  await course.receive({ kind: "start", asked: { toml: "" } });
  expect(told).toEqual([{ kind: "failed", message: "the engine stopped (unreachable)" }]);
});
