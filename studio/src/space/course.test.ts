import { expect, test } from "vitest";
import type { Door, Sky } from "../engine/protocol.ts";
import { coursesOf, wayAt } from "./course.ts";

test("flows between the same stations share their paths; the newest path is returned", async () => {
  let asked = 0;
  const door = {
    ask: async () => {
      asked++;
      return {
        courses: [
          { from_s: 0, nodes: [4, 0, 5] },
          { from_s: 8, nodes: [] },
          { from_s: 9, nodes: [4, 1, 5] },
        ],
      };
    },
  } as unknown as Door;
  const flows = ["a", "b"].map((name) => ({ name, from: 0, to: 1 }));
  const courses = await coursesOf(door, { place: 0, flows } as Sky, 60);
  expect(asked).toBe(1);
  expect(courses.map(({ flow }) => flow)).toEqual(["a", "b"]);
  const at = (time: number) => courses[1] && wayAt(courses[1], time).nodes;
  expect([at(7.9), at(8), at(30)]).toEqual([[4, 0, 5], [], [4, 1, 5]]);
});
