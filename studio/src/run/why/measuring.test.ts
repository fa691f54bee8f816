import { expect, test } from "vitest";
import { Pool } from "../../engine/pool.ts";
import type { Door, Request, Summary } from "../../engine/protocol.ts";
import { Measuring } from "./measuring.ts";

const SUMMARY = { scenario: { name: "one" }, seed: 5, flows: [{ name: "f" }], links: [] } as unknown as Summary;

/** An engine whose runs have the goodput `goodput(scenario, seed)`, and which notes analyses and starts. */
class Fake {
  readonly asked: Record<string, unknown>[] = [];
  readonly starts: string[] = [];
  isClosed = false;
  private toml = "";
  private seed = 0;

  constructor(private readonly goodput: (scenario: string, seed: number) => number) {}

  async ask(request: Request): Promise<unknown> {
    await new Promise((done) => setImmediate(done));
    if (this.isClosed) {
      throw new Error("the engine is closed");
    }
    switch (request.op) {
      case "analyse":
        return { answer: this.analysis(request.request as Record<string, object>) };
      case "write":
        return { toml: (request.scenario as { name: string }).name };
      case "start":
        this.toml = request.toml;
        this.seed = request.seed ?? 0;
        this.starts.push(`${this.toml} ${this.seed}`);
        return this.toml === "wrong" ? { errors: [{ path: "links[1].ramp", message: "needs slots" }] } : { end_s: 1 };
      case "finish":
        return { summary: { flows: [{ name: "f", goodput_bps: this.goodput(this.toml, this.seed) }] } };
      default:
        return { over: true };
    }
  }

  close(): void {
    this.isClosed = true;
  }

  private analysis(request: Record<string, object>): unknown {
    this.asked.push(request);
    const causes = ["light", "wrong"].map((name) => ({ cause: name, is_set: name === "light", scenario: { name } }));
    const replies: Record<string, unknown> = {
      subject: { flow: "f", record: { trace: "off" } },
      variants: { causes, short_queue: { name: "short" } },
      diagnose: request.diagnose,
      told: { headline: "f: fast", sentences: ["f: fast"], table: { title: "Effects", columns: [], rows: [] } },
    };
    return replies[Object.keys(request)[0] ?? ""];
  }

  /** Returns the input of an analysis. */
  of(name: string): unknown {
    return this.asked.find((request) => name in request)?.[name];
  }
}

function measuring(engine: Fake): Measuring {
  return new Measuring({ toml: "" }, SUMMARY, () => new Pool([engine as unknown as Door]));
}

const row = (goodput_bps: number) => ({ name: "f", goodput_bps });

test("each cause is removed with the seeds of the run, and an invalid scenario has its error", async () => {
  const engine = new Fake((_, seed) => seed);
  const one = measuring(engine);
  await one.measure(undefined, 3);
  expect(one.fault.value).toBe("");
  expect(one.causes.value).toMatchObject({ headline: "f: fast", sentences: ["f: fast"] });
  expect(engine.of("subject")).toMatchObject({ flow: null, scenario: SUMMARY.scenario });
  expect(engine.of("variants")).toEqual({
    scenario: { name: "one", record: { trace: "off" } },
    base: [row(5), row(6), row(7)],
    first_seed: 5,
  });
  expect(engine.of("diagnose")).toEqual({
    base: [row(5), row(6), row(7)],
    tried: [
      { cause: "light", is_set: true, rows: [row(5), row(6), row(7)] },
      { cause: "wrong", is_set: false, error: "links[1].ramp: needs slots" },
    ],
    short_queue: [row(5), row(6), row(7)],
  });
  expect([one.done.value, one.all.value, one.isRunning.value, engine.isClosed]).toEqual([12, 12, false, true]);
});

test("a scenario without randomness has one seed", async () => {
  const engine = new Fake(() => 1);
  const one = measuring(engine);
  await one.measure("f", 10);
  expect(engine.of("subject")).toMatchObject({ flow: "f" });
  expect(engine.starts.toSorted()).toEqual(["light 5", "one 5", "one 6", "short 5", "wrong 5"]);
});

test("a cancelled measurement ends its engines and has no result", async () => {
  const engine = new Fake((_, seed) => seed);
  const one = measuring(engine);
  const running = one.measure();
  while (one.done.value < 2) {
    await new Promise((next) => setImmediate(next));
  }
  one.cancel();
  await running;
  expect([one.isRunning.value, one.causes.value, one.fault.value, engine.isClosed]).toEqual([
    false,
    undefined,
    "",
    true,
  ]);
});

test("a flow that is absent with a seed is an error", async () => {
  const engine = new Fake((_, seed) => seed);
  engine.ask = (
    (ask) => async (request: Request) =>
      request.op === "finish" ? { summary: { flows: [] } } : ask.call(engine, request)
  )(engine.ask);
  const one = measuring(engine);
  await one.measure();
  expect(one.fault.value).toMatch(/^with seed \d there is no flow 'f': flows are drawn at random/);
  expect(one.isRunning.value).toBe(false);
});
