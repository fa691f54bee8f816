import { describe, expect, test } from "vitest";
import type { Tables } from "../engine/protocol.ts";
import type { Figure } from "../save/figure.ts";
import { Comparison } from "./comparison.ts";
import { type Curves, Gathering } from "./curves.ts";
import type { Outcome } from "./outcome.ts";
import { pictures } from "./pictures.ts";

/** Rows of a trace: time, flow, leg, bytes that had arrived, cwnd. */
function trace(rows: [time: number, flow: number, leg: number, arrived: number, window: number][]): Tables {
  const column = (at: number) => ({ values: Float64Array.from(rows, (row) => row[at] as number) });
  const columns = {
    time_s: column(0),
    flow: column(1),
    leg: column(2),
    arrived_bytes: column(3),
    cwnd_segments: column(4),
  };
  return { trace: { rows: rows.length, columns } };
}

describe("the curves of a run", () => {
  test("grow evenly between rows, of all flows together, whatever the steps of the run", () => {
    const gathering = new Gathering(["a", "b"]);
    gathering.add(trace([[0, 0, 1, 0, 10]]));
    gathering.add(
      trace([
        [6, 0, 1, 1200, 20],
        [3, 1, 1, 600, 5],
      ]),
    );
    const { arrived, windows } = gathering.curves(12, new Map());
    // At 3 s: 600 of a, 600 of b; at 6 s: 1200 and 600. Nothing arrives later.
    expect([0, 300, 600, 1200].map((step) => arrived?.[step])).toEqual([0, 1200, 1800, 1800]);
    expect(windows).toEqual([
      { flow: "a", x: Float64Array.of(0, 6), y: Float64Array.of(10, 20) },
      { flow: "b", x: Float64Array.of(3), y: Float64Array.of(5) },
    ]);
  });

  test("count the receiver of a split flow once, and have the window of its longest leg", () => {
    const gathering = new Gathering(["a"]);
    gathering.add(
      trace([
        [0, 0, 1, 0, 10],
        [0, 0, 2, 0, 3],
        [1, 0, 1, 500, 11],
        [1, 0, 2, 500, 4],
      ]),
    );
    const { arrived, windows } = gathering.curves(1, new Map([["a", 2]]));
    expect(arrived?.at(-1)).toBe(500);
    expect(windows.map(({ y }) => [...y])).toEqual([[3, 4]]);
  });

  test("a long trace keeps its last row", () => {
    const gathering = new Gathering(["a"], 100);
    for (let at = 0; at < 50; at++) {
      const time = 4 * at;
      gathering.add(trace([0, 1, 2, 3].map((more) => [time + more, 0, 1, 10 * (time + more), 1])));
    }
    const { arrived, windows } = gathering.curves(199, new Map());
    expect(windows[0]?.x.length).toBeLessThanOrEqual(101);
    expect(arrived?.at(-1)).toBe(1990);
  });

  test("there are none without a trace", () => {
    expect(new Gathering(["a"]).curves(10, new Map())).toEqual({ arrived: null, windows: [] });
  });
});

describe("pictures", () => {
  const run = (seed: number, height: number): Outcome => {
    const windows = [{ flow: "f", x: Float64Array.of(0, 10), y: Float64Array.of(height, height) }];
    const curves: Curves = { arrived: Float64Array.of(0, 1e6, 2e6), windows };
    const flow = { name: "f", congestion: "cubic", goodputBps: 1e6, completionS: null, minRttS: 0.1 };
    const numbers = { completionS: null, jain: 1, retransmittedShare: 0, queueingMeanS: null, queueingP95S: null };
    const more = { bottleneck: null, timeouts: 0, meanRttS: 0.1, simulatedS: 16, resultHash: "", capacityBps: 2e6 };
    return { seed, goodputBps: 1e6, ...numbers, ...more, flows: [flow], curves };
  };
  const titles = (second: number) =>
    pictures(
      new Comparison([
        { name: "one", isRandom: true, outcomes: [run(1, 10), run(2, 10)] },
        { name: "two", isRandom: false, outcomes: [run(1, second)] },
      ]),
      2,
    ).map(({ figure, says }) => [figure.title, says]);

  test("of one seed; a variant without chance has its one run in all of them", () => {
    expect(titles(12)).toEqual([
      ["Goodput, seed 2", "Goodput over time: one at most 1 Mbit/s, two at most 1 Mbit/s."],
      [
        "cwnd, seed 2",
        "Congestion window of one, seed 2: at most 10 segments. Congestion window of two, seed 1: at most 12 segments.",
      ],
    ]);
  });

  test("flows beside each other have colours of their own, over the whole run", () => {
    const two = run(2, 10);
    const windows = [...two.curves.windows, { flow: "g", x: Float64Array.of(2), y: Float64Array.of(4) }];
    const flows = [...two.flows, { ...two.flows[0], name: "g" }] as Outcome["flows"];
    const outcome = { ...two, flows, curves: { ...two.curves, windows } };
    const found = pictures(new Comparison([{ name: "one", isRandom: true, outcomes: [outcome] }]), 2);
    const figure = found[1]?.figure as Figure;
    expect(figure.lines.map(({ name, at }) => [name, at])).toEqual([
      ["f", 0],
      ["g", 1],
    ]);
    expect(figure.ends).toEqual({ from: 0, to: 16 });
  });

  test("windows of different sizes have charts of their own", () => {
    expect(titles(1000).map(([title]) => title)).toEqual([
      "Goodput, seed 2",
      "cwnd of one (segments, seed 2)",
      "cwnd of two (segments, seed 1)",
    ]);
  });
});
