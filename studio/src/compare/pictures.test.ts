import { describe, expect, test } from "vitest";
import type { Figure } from "../save/figure.ts";
import { Comparison } from "./comparison.ts";
import type { Curves, Outcome } from "./outcome.ts";
import { pictures } from "./pictures.ts";

describe("pictures", () => {
  const run = (seed: number, height: number): Outcome => {
    const curves: Curves = { arrived: [0, 1e6, 2e6], windows: [["f", [0, 10], [height, height]]] };
    const flow = { name: "f", congestion: "cubic", goodput_bps: 1e6, completion_s: null, min_rtt_s: 0.1, leg: null };
    const numbers = {
      completion_s: null,
      jain: 1,
      retransmitted_share: 0,
      queueing_mean_s: null,
      queueing_p95_s: null,
    };
    const more = {
      bottleneck: null,
      timeouts: 0,
      mean_rtt_s: 0.1,
      simulated_s: 16,
      result_hash: "",
      capacity_bps: 2e6,
    };
    return { seed, goodput_bps: 1e6, ...numbers, ...more, flows: [flow], curves };
  };
  const titles = (second: number) =>
    pictures(
      new Comparison([
        { name: "one", isRandom: true, outcomes: [run(1, 10), run(2, 10)] },
        { name: "two", isRandom: false, outcomes: [run(1, second)] },
      ]),
      2,
    ).map(({ figure, says }) => [figure.title, says]);

  test("show one seed; a variant without randomness has its one run in all of them", () => {
    expect(titles(12)).toEqual([
      ["Goodput, seed 2", "Goodput over time: one up to 1 Mbit/s, two up to 1 Mbit/s."],
      [
        "cwnd, seed 2",
        "Congestion window of one, seed 2: up to 10 segments. Congestion window of two, seed 1: up to 12 segments.",
      ],
    ]);
  });

  test("flows in one run have separate colours, over the entire run", () => {
    const two = run(2, 10);
    const windows: Curves["windows"] = [...two.curves.windows, ["g", [2], [4]]];
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

  test("windows of different sizes have separate charts", () => {
    expect(titles(1000).map(([title]) => title)).toEqual([
      "Goodput, seed 2",
      "cwnd of one (segments, seed 2)",
      "cwnd of two (segments, seed 1)",
    ]);
  });
});
