import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { answer } from "./answer.ts";
import { Comparison, type Contender } from "./comparison.ts";
import { measures, show } from "./measures.ts";
import type { Outcome } from "./outcome.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const python = process.env.PYTHON ?? here("../../../.venv/bin/python");
const engine = here("../../../python/lightlag/_engine.abi3.so");

test("the one run of a variant without randomness pairs with every run of another", () => {
  const run = (seed: number, speed: number) => outcome(seed, [speed, 10, 0, 0.1], true, ["cubic"]);
  const comparison = new Comparison([
    { name: "still", isRandom: false, outcomes: [run(1, 12)] },
    { name: "moved", isRandom: true, outcomes: [run(1, 8), run(2, 9), run(3, 10)] },
  ]);
  expect(answer(comparison)?.headline).toBe(
    "still beats moved by 33 % (95 %: 4 to 84 %): a goodput of 12.00 Mbit/s against 9.000 Mbit/s.",
  );
});

/** Script that analyses the same outcomes with `lightlag.report`. */
const SCRIPT = here("../../tests/conclusions.py");

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
    goodput_bps: rate,
    completion_s: isFinished ? (took ?? 0) : null,
    jain: algorithms.length > 1 ? 1 / (1 + (again ?? 0)) : 1,
    retransmitted_share: again ?? 0,
    queueing_mean_s: wait ?? 0,
    queueing_p95_s: wait ?? 0,
    bottleneck: "a->b",
    timeouts: 0,
    mean_rtt_s: 0.6,
    simulated_s: 120,
    result_hash: String(seed),
    flows: algorithms.map((congestion, at) => ({
      name: `f${at}`,
      congestion,
      goodput_bps: (rate * (at + 1)) / 3,
      completion_s: null,
      min_rtt_s: 0.6,
      leg: null,
    })),
    capacity_bps: null,
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

// The interpreter may lack the engine, for example if only the studio is built.
test.skipIf(!existsSync(python) || !existsSync(engine))(
  "the conclusions are identical to the output of lightlag.report",
  () => {
    const samples = fc.sample(contenders, { numRuns: 300, seed: 7 });
    const said = execFileSync(python, [SCRIPT], {
      input: JSON.stringify(samples),
      env: { ...process.env, PYTHONPATH: here("../../../python") },
      maxBuffer: 1 << 26,
    });
    const expected = JSON.parse(said.toString()) as { headline: string; sentences: string[]; shown: string[][] }[];
    const answered = measures().filter(({ is_answered }) => is_answered);
    for (const [at, sample] of samples.entries()) {
      const comparison = new Comparison(sample);
      const { headline, sentences } = answer(comparison) ?? {};
      const shown = sample.map((one) => answered.map((measure) => show(measure, comparison.interval(one, measure))));
      expect({ headline, sentences, shown }).toEqual(expected[at]);
    }
  },
  120_000,
);
