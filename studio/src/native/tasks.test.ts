import { describe, expect, test } from "vitest";
import type { Wire } from "../engine/socket.ts";
import { Task, type TaskEvent, Tasks } from "./tasks.ts";

function told(...events: Record<string, unknown>[]): Task {
  const task = new Task(1, "run", "geo");
  for (const event of events) {
    task.hear({ id: 1, ...event } as TaskEvent);
  }
  return task;
}

describe("a task", () => {
  test("counts the parts of its runs", () => {
    const task = told(
      { event: "start", name: "geo", total: 2, warnings: [["queue", "is short"]] },
      { event: "progress", seed: 1, now_s: 30, end_s: 120 },
      { event: "progress", seed: 2, now_s: 60, end_s: 120 },
    );
    expect(task.standing.value).toBe("running");
    expect(task.done).toBe(0.75);
    expect(task.total.value).toBe(2);
    expect(task.warnings.value).toEqual(["queue: is short"]);
  });

  test("is done when it ends with its results", () => {
    const result = { event: "result", place: "0/geo", seed: 1, result_hash: "ab", interrupted: false };
    const task = told({ event: "start", name: "geo", total: 1, warnings: [] }, result, {
      event: "end",
      cancelled: false,
    });
    expect(task.standing.value).toBe("done");
    expect(task.done).toBe(1);
    expect(task.written.value).toEqual([{ place: "0/geo", seed: 1, result_hash: "ab", interrupted: false }]);
  });

  test("retains the records of a cancelled run", () => {
    const task = told(
      { event: "progress", seed: 1, now_s: 30, end_s: 120 },
      { event: "result", place: "0/geo", seed: 1, result_hash: "ab", interrupted: true },
      { event: "end", cancelled: true },
    );
    expect(task.standing.value).toBe("cancelled");
    expect(task.done).toBe(0.25);
  });

  test("reports each error with its path", () => {
    const errors = [{ path: "links[0].rate", message: "is none" }];
    const task = told({ event: "failed", message: "1 mistake", errors }, { event: "end", cancelled: false });
    expect(task.standing.value).toBe("failed");
    expect(task.faults.value).toEqual(["links[0].rate: is none"]);
  });

  test("follows a study", () => {
    const task = told({ event: "status", study: "s", cells: [], more: 0, finished: 3, total: 9, failures: {} });
    expect(task.standing.value).toBe("running");
    expect([task.done, task.total.value]).toEqual([3, 9]);
  });

  test("carries out a study whose results remain if some runs fail", () => {
    const task = told(
      { event: "start", name: "s", total: 9, warnings: [] },
      { event: "status", study: "s", cells: [], more: 0, finished: 8, total: 9, failures: { k: "no memory" } },
      { event: "result", place: "0/s", finished: 8, complete: false },
      { event: "failed", message: "1 run failed, such as: no memory; the others remain in the store" },
      { event: "end", cancelled: false },
    );
    expect(task.standing.value).toBe("failed");
    expect(task.written.value).toEqual([{ place: "0/s", finished: 8, complete: false }]);
    expect([task.done, task.total.value]).toEqual([8, 9]);
  });
});

test("the end of the connection ends active tasks, and is reported", async () => {
  const sent: string[] = [];
  const wire: Wire = {
    binaryType: "blob",
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => sent.push(text),
    close: () => undefined,
  };
  const lost: string[] = [];
  const tasks = new Tasks(
    { url: "ws://x/tasks", token: "t" },
    (why) => lost.push(why),
    () => wire,
  );
  const tell = (message: object) => wire.onmessage?.({ data: JSON.stringify(message) } as MessageEvent);
  const connected = tasks.connect();
  wire.onopen?.({} as Event);
  tell({ event: "welcome" });
  await connected;
  const run = tasks.start({ op: "run", scenario: "s" }, "s");
  const done = tasks.start({ op: "compare", scenarios: ["s"] }, "s");
  const study = tasks.start({ op: "watch", study: "0/s.toml" }, "s");
  await expect.poll(() => sent.length).toBe(4);
  expect(JSON.parse(sent[1] ?? "")).toEqual({ op: "run", scenario: "s", id: 1 });
  tell({ id: 1, event: "start", name: "s", total: 1, warnings: [] });
  tell({ id: 2, event: "end", cancelled: false });
  wire.onclose?.({ code: 1006, reason: "" } as CloseEvent);
  expect(run.standing.value).toBe("lost");
  expect(run.faults.value[0]).toContain("records so far");
  expect(done.standing.value).toBe("done");
  expect(study.faults.value[0]).toContain("the study continues");
  expect(lost).toHaveLength(1);
  expect(lost[0]).toContain("has stopped or does not respond");
});
