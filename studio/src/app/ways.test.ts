import { expect, test } from "vitest";
import type { Table } from "../engine/protocol.ts";
import { Ways } from "./ways.ts";

function paths(rows: [time: number, flow: number, hop: number, node: number][]): Table {
  const column = (at: number) => ({ values: Float64Array.from(rows, (row) => row[at] as number) });
  return { rows: rows.length, columns: { time_s: column(0), flow: column(1), hop: column(2), node: column(3) } };
}

test("the newest path at a time is returned, even if a step ends within a path", () => {
  const ways = new Ways();
  ways.add(
    paths([
      [0.5, 0, 0, 4],
      [0.5, 0, 1, 9],
      [0.7, 1, 0, 3],
    ]),
  );
  ways.add(
    paths([
      [0.7, 1, 1, 2],
      [2, 0, 0, 4],
      [2, 0, 1, 5],
      [2, 0, 2, 9],
    ]),
  );
  expect(ways.at(0.4).size).toBe(0);
  expect(ways.at(1).get(0)?.nodes).toEqual([4, 9]);
  expect(ways.at(1).get(1)?.nodes).toEqual([3, 2]);
  expect(ways.at(2).get(0)?.nodes).toEqual([4, 5, 9]);
  expect(ways.add(undefined)).toBe(false);
});
