import { describe, expect, test } from "vitest";
import { Task, type TaskEvent } from "./tasks.ts";

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
    expect(task.standing.value).toBe("going on");
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

  test("keeps the part of a run that was cancelled", () => {
    const task = told(
      { event: "progress", seed: 1, now_s: 30, end_s: 120 },
      { event: "result", place: "0/geo", seed: 1, result_hash: "ab", interrupted: true },
      { event: "end", cancelled: true },
    );
    expect(task.standing.value).toBe("cancelled");
    expect(task.done).toBe(0.25);
  });

  test("tells each mistake with its place", () => {
    const errors = [{ path: "links[0].rate", message: "is none" }];
    const task = told({ event: "failed", message: "1 mistake", errors }, { event: "end", cancelled: false });
    expect(task.standing.value).toBe("failed");
    expect(task.faults.value).toEqual(["links[0].rate: is none"]);
  });

  test("follows a study", () => {
    const task = told({ event: "status", study: "s", cells: [], more: 0, finished: 3, total: 9, failures: {} });
    expect(task.standing.value).toBe("going on");
    expect([task.done, task.total.value]).toEqual([3, 9]);
  });
});
