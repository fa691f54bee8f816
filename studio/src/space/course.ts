/** Paths of flows over satellites, as they change with time. */

import type { Door, Sky } from "../engine/protocol.ts";

export interface Course {
  flow: string;
  ways: { from_s: number; nodes: number[] }[];
}

const NONE: Course["ways"][number] = { from_s: 0, nodes: [] };

/** Maximum number of flows whose paths are computed. */
const MOST = 24;

/** Returns the paths of all flows up to a time. Flows between the same stations share theirs. */
export async function coursesOf(door: Door, { place, flows, courses }: Sky, until_s: number): Promise<Course[]> {
  if (courses) {
    return courses.slice(0, MOST);
  }
  const known = new Map<string, Promise<Course["ways"]>>();
  const found = flows.slice(0, MOST).map(async ({ name, from, to }) => {
    const key = `${from} ${to}`;
    const ways =
      known.get(key) ?? door.ask({ op: "courses", place, from, to, until_s }).then((answer) => answer.courses);
    known.set(key, ways);
    return { flow: name, ways: await ways };
  });
  return Promise.all(found);
}

/** Returns the path at a time: empty if there is none. */
export function wayAt({ ways }: Course, time_s: number): { from_s: number; nodes: number[] } {
  return ways.findLast(({ from_s }) => from_s <= time_s) ?? NONE;
}
