import { expect, test } from "vitest";
import type { Request } from "../engine/protocol.ts";
import { Course } from "./course.ts";
import type { FromCourse } from "./messages.ts";

/** A response of the engine, with columns after its head. */
function answer(head: unknown, columns: number[] = []): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const from = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(from + 8 * columns.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  new Float64Array(bytes.buffer, from).set(columns);
  return bytes.buffer;
}

/** A row of the queue: two packets. */
const QUEUE = {
  rows: 1,
  columns: ["link", "packets"].map((name, at) => ({ name, type: "f64", at: 8 * at })),
};

/**
 * Returns an engine in which each event advances the run by 0.01 s, up to 10 s or `last` events. One row is recorded
 * per `each` events.
 */
function fake(ask?: (request: Request) => ArrayBuffer, each = Number.POSITIVE_INFINITY, last = 1000) {
  let clock = 0;
  let events = 0;
  const steps: Request[] = [];
  const told: FromCourse[] = [];
  const engine = {
    ask: (request: Request): ArrayBuffer => {
      if (request.op === "start") {
        return answer({ run: 0, end_s: 10, seed: 1, flows: ["a"], links: ["l"], nodes: [] });
      }
      if (request.op === "step") {
        steps.push(request);
        const until = Math.floor(request.until_s * 100 + 1e-9);
        events = Math.min(events + (request.events ?? 1e9), Math.max(events, until));
        const has = request.events === 1 && events % each === 0;
        const tables = has ? { queue: QUEUE } : {};
        return answer({ now_s: events / 100, events, over: events >= last, tables }, has ? [0, 2] : []);
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

test("a run advances to its end, and reports its result once", async () => {
  const { course, told } = fake();
  await course.receive({ kind: "start", input: { toml: "" } });
  await course.receive({ kind: "go", how: "on" });
  expect(told.map(({ kind }) => kind).filter((kind) => kind === "finished")).toHaveLength(1);
  expect(told.at(-1)).toMatchObject({ kind: "finished", now_s: 10, result: { account: { flows: [] } } });
});

test("a run with a pace follows the clock", async () => {
  const { course, told } = fake();
  await course.receive({ kind: "start", input: { toml: "" } });
  await course.receive({ kind: "pace", speed: 10 });
  await course.receive({ kind: "go", how: "on" });
  const times = told.flatMap((message) => (message.kind === "news" ? [message.now_s] : []));
  const gaps = times.slice(1, -2).map((time, at) => time - (times[at] as number));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(0.17);
  expect(times.length).toBeGreaterThan(50);
});

test("one step advances event by event to the next record, and reports it", async () => {
  const { course, told, steps } = fake(undefined, 3);
  await course.receive({ kind: "start", input: { toml: "" } });
  await course.receive({ kind: "go", how: "one step" });
  expect(steps).toEqual([1, 2, 3].map(() => ({ op: "step", run: 0, until_s: 10, events: 1 })));
  const happened = ["2 packets wait at l"];
  expect(told.at(-1)).toMatchObject({ kind: "news", state: "paused", now_s: 0.03, texts: { happened } });
  await course.receive({ kind: "go", how: "one step" });
  expect(told.at(-1)).toMatchObject({ now_s: 0.06, texts: { happened } });
});

test("one step of a run without records also ends", async () => {
  const { course, told } = fake(undefined, Number.POSITIVE_INFINITY, 1e6);
  await course.receive({ kind: "start", input: { toml: "" } });
  await course.receive({ kind: "go", how: "one step" });
  expect(told.at(-1)).toMatchObject({ kind: "news", state: "paused", now_s: 10, texts: { happened: [] } });
});

test("a trap gives one clear error", async () => {
  const { course, told } = fake(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });
  await course.receive({ kind: "start", input: { toml: "" } });
  expect(told).toEqual([{ kind: "failed", message: "the engine stopped (unreachable)" }]);
});
