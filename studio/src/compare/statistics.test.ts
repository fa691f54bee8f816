import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixed, general } from "../app/numbers.ts";
import { answer } from "./answer.ts";
import { Comparison, type Contender } from "./comparison.ts";
import { MEASURES, show } from "./measures.ts";
import type { Outcome } from "./outcome.ts";
import { ranked } from "./ranking.ts";
import { meanInterval, studentT } from "./student.ts";
import { exactSum } from "./sums.ts";
import { percent } from "./words.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const python = process.env.PYTHON ?? here("../../../.venv/bin/python");
const engine = here("../../../python/lightlag/_engine.abi3.so");

describe("Student's t", () => {
  test.each([
    [0.95, 1, 12.7062],
    [0.95, 2, 4.30265],
    [0.95, 9, 2.26216],
    [0.95, 29, 2.04523],
    [0.99, 4, 4.60409],
    [0.9, 10, 1.81246],
    [0.95, 1000, 1.96234],
  ])("quantile of %f with %i degrees of freedom", (confidence, freedom, t) => {
    expect(studentT(confidence, freedom)).toBeCloseTo(t, 4);
  });

  test("an interval grows narrower with more runs of the same spread", () => {
    const values = [9, 10, 11];
    expect(meanInterval(values)).toMatchObject({ mean: 10, count: 3, halfWidth: expect.closeTo(2.484, 3) });
    expect(meanInterval([...values, ...values]).halfWidth).toBeLessThan(meanInterval(values).halfWidth);
    expect(meanInterval([5]).halfWidth).toBeNaN();
    expect(() => studentT(1, 3)).toThrow("no interval of confidence 1");
  });
});

describe("numbers", () => {
  test("sums are exact", () => {
    expect(exactSum([1e100, 1, -1e100])).toBe(1);
    expect(exactSum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
    expect(exactSum([])).toBe(0);
  });

  test("halves go to the even digit", () => {
    expect([fixed(0.5, 0), fixed(1.5, 0), fixed(2.5, 0), fixed(0.125, 2), fixed(-2.5, 0)]).toEqual([
      "0",
      "2",
      "2",
      "0.12",
      "-2",
    ]);
    expect([general(2.25, 2), general(100, 2), general(2, 2), general(0.00001, 2), general(31.4, 2)]).toEqual([
      "2.2",
      "1e+02",
      "2",
      "1e-05",
      "31",
    ]);
  });

  test("shares show no end as zero", () => {
    expect(percent([0.0612, 0.0211, 0.1013])).toEqual(["6", "2", "10"]);
    expect(percent([0.0031, 0.0002, 0.006])).toEqual(["0.31", "0.02", "0.60"]);
    expect(percent([0.4])).toEqual(["40"]);
  });
});

test("the ratio of two means has the interval of Fieller", () => {
  const rival = (name: string, values: number[]) => ({
    name,
    values: new Map(values.map((value, at) => [at + 1, value])),
    isFixed: false,
  });
  const found = ranked([rival("slow", [8, 9.1, 9.8]), rival("fast", [9, 10, 11])], true);
  expect(found?.rivals[0]?.name).toBe("fast");
  expect(found?.gaps[0]?.low).toBeCloseTo(1.08, 2);
  expect(found?.gaps[0]?.high).toBeCloseTo(1.15, 2);
});

test("the one run of a variant without chance pairs with every run of another", () => {
  const run = (seed: number, speed: number) => outcome(seed, [speed, 10, 0, 0.1], true, ["cubic"]);
  const comparison = new Comparison([
    { name: "still", isRandom: false, outcomes: [run(1, 12)] },
    { name: "moved", isRandom: true, outcomes: [run(1, 8), run(2, 9), run(3, 10)] },
  ]);
  expect(answer(comparison)?.headline).toBe(
    "still beats moved by 33 % (95 %: 4 to 84 %): a goodput of 12.00 Mbit/s against 9.000 Mbit/s.",
  );
});

/** The same outcomes through lightlag.report: its words and its table. */
const SCRIPT = `
import json, sys
from lightlag.comparison import Comparison
from lightlag.outcomes.design import MEASURES, Design
from lightlag.outcomes.outcome import Flows, Outcome
from lightlag.report.answer import answer
from lightlag.outcomes.variables import Competitor
told = []
for contenders in json.load(sys.stdin):
    runs = [
        Outcome(c["name"], (), o["seed"], o["goodputBps"], o["completionS"], o["jain"], o["retransmittedShare"],
                o["queueingMeanS"], o["queueingP95S"], o["bottleneck"], o["timeouts"], o["simulatedS"], o["resultHash"],
                Flows([f["name"] for f in o["flows"]], [f["congestion"] for f in o["flows"]],
                      [f["goodputBps"] for f in o["flows"]], [f["completionS"] for f in o["flows"]],
                      [None] * len(o["flows"]), [None] * len(o["flows"])), None, None, None)
        for c in contenders for o in c["outcomes"]
    ]
    competitors = tuple(Competitor(c["name"], (c["name"],), (c["name"],)) for c in contenders)
    comparison = Comparison(Design({"name": "x"}, competitors, (), 1, len(contenders[0]["outcomes"])), runs)
    found = answer(comparison)
    shown = [[m.show(comparison.interval(name, m)) for m in MEASURES[:5]] for name in comparison.algorithms]
    told.append({"headline": found.headline, "sentences": list(found.sentences), "shown": shown})
json.dump(told, sys.stdout)
`;

const positive = (max: number) => fc.double({ min: 0.001, max, noNaN: true });

function outcome(
  seed: number,
  [goodput, took, again, wait]: number[],
  isFinished: boolean,
  algorithms: string[],
): Outcome {
  const rate = (goodput ?? 0) * 1e6;
  return {
    seed,
    goodputBps: rate,
    completionS: isFinished ? (took ?? 0) : null,
    jain: algorithms.length > 1 ? 1 / (1 + (again ?? 0)) : 1,
    retransmittedShare: again ?? 0,
    queueingMeanS: wait ?? 0,
    queueingP95S: wait ?? 0,
    bottleneck: "a->b",
    timeouts: 0,
    meanRttS: 0.6,
    simulatedS: 120,
    resultHash: String(seed),
    flows: algorithms.map((congestion, at) => ({
      name: `f${at}`,
      congestion,
      goodputBps: (rate * (at + 1)) / 3,
      completionS: null,
      minRttS: null,
    })),
    capacityBps: null,
    curves: { arrived: null, windows: [] },
  };
}

const contenders = fc
  .record({ count: fc.integer({ min: 1, max: 9 }), seeds: fc.integer({ min: 1, max: 6 }), pair: fc.boolean() })
  .chain(({ count, seeds, pair }) => {
    const run = fc.tuple(positive(20), positive(100), positive(0.1), positive(2), fc.boolean());
    const base = fc.double({ min: 0.1, max: 30, noNaN: true });
    const one = fc.record({ base, runs: fc.array(run, { minLength: seeds, maxLength: seeds }), same: fc.boolean() });
    return fc.array(one, { minLength: count, maxLength: count }).map((every) =>
      every.map(({ base, runs, same }, at): Contender => {
        const used = same ? runs.map(() => runs[0] as (typeof runs)[number]) : runs;
        return {
          name: `v${at}`,
          isRandom: true,
          outcomes: used.map(([speed, took, again, wait, isFinished], index) =>
            outcome(index + 1, [base + speed / 20, took, again, wait], isFinished, pair ? ["cubic", "bbr"] : ["cubic"]),
          ),
        };
      }),
    );
  });

// The interpreter may lack the engine, as where only the page is built.
test.skipIf(!existsSync(python) || !existsSync(engine))(
  "the answers are those of lightlag.report, word for word",
  () => {
    const samples = fc.sample(contenders, { numRuns: 300, seed: 7 });
    const said = execFileSync(python, ["-c", SCRIPT], {
      input: JSON.stringify(samples),
      env: { ...process.env, PYTHONPATH: here("../../../python") },
      maxBuffer: 1 << 26,
    });
    const expected = JSON.parse(said.toString()) as { headline: string; sentences: string[]; shown: string[][] }[];
    for (const [at, sample] of samples.entries()) {
      const comparison = new Comparison(sample);
      const found = answer(comparison);
      const shown = sample.map((one) => MEASURES.map((measure) => show(measure, comparison.interval(one, measure))));
      expect({ ...found, shown }).toEqual(expected[at]);
    }
  },
  120_000,
);
