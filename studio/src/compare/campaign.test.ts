import { describe, expect, test } from "vitest";
import { Pool } from "../engine/pool.ts";
import { type Door, FullError, type Request } from "../engine/protocol.ts";
import { Campaign, type Contestant } from "./campaign.ts";

type Started = Extract<Request, { op: "start" }>;

/** An engine that runs a scenario instantly; `fate` determines how each start ends. */
class Fake {
  private last: Started | undefined;
  closed = 0;
  /** Requested maximum number of events, for each step. */
  readonly steps: (number | undefined)[] = [];
  constructor(private readonly fate: (start: Started) => string | Error | undefined = () => undefined) {}

  async ask(request: Request): Promise<unknown> {
    await new Promise((done) => setImmediate(done));
    if (request.op === "start") {
      const fate = this.fate(request);
      if (fate instanceof Error) {
        throw fate;
      }
      if (fate?.startsWith("wrong")) {
        return { errors: [{ path: "links[0].rate", message: fate }] };
      }
      if (fate) {
        throw new Error(fate);
      }
      this.last = request;
      return { run: 0, end_s: 1, seed: request.seed, flows: ["f"] };
    }
    if (request.op === "finish") {
      const { seed = 0, toml } = this.last as Started;
      const flow = { name: "f", congestion: "cubic", goodput_bps: seed, completion_s: 1, min_rtt_s: 1, leg: null };
      const outcome = [
        { goodput_bps: seed, flows: [flow] },
        { arrived: null, windows: [] },
      ];
      const summary = { seed, simulated_s: 1, result_hash: `${toml} ${seed}` };
      return request.compared ? { summary, outcome, tables: {} } : { summary, tables: {} };
    }
    if (request.op === "step") {
      this.steps.push(request.events);
    }
    return { over: this.steps.length % 2 === 0, tables: {} };
  }

  close(): void {
    this.closed++;
  }
}

function campaign(...engines: Fake[]): Campaign {
  return new Campaign(() => new Pool(engines as unknown as Door[]));
}

const contestant = (name: string, isRandom = true): Contestant => ({
  name,
  isRandom,
  input: { toml: "t", files: {}, sets: [["defaults.tcp.congestion", name]] },
});

const seedsOf = (one: Campaign, { input }: Contestant) => one.of(input, [1, 2, 3, 4]).map(({ seed }) => seed);

describe("Campaign", () => {
  test("variants have the same seeds, and finished runs are not repeated when one is added", async () => {
    const starts: string[] = [];
    const note = ({ seed, sets }: Started) => {
      starts.push(`${sets?.[0]?.[1]} ${seed}`);
      return undefined;
    };
    const one = campaign(new Fake(note), new Fake(note));
    const [cubic, bbr, hybla] = [contestant("cubic"), contestant("bbr"), contestant("hybla")];
    await one.run([cubic, bbr], [1, 2, 3]);
    expect(starts.toSorted()).toEqual(["bbr 1", "bbr 2", "bbr 3", "cubic 1", "cubic 2", "cubic 3"]);
    expect(one.isRunning.value).toBe(false);
    await one.run([cubic, hybla, bbr], [1, 2, 3, 4]);
    expect(starts.slice(6).toSorted()).toEqual(["bbr 4", "cubic 4", "hybla 1", "hybla 2", "hybla 3", "hybla 4"]);
    expect(seedsOf(one, hybla)).toEqual([1, 2, 3, 4]);
  });

  test("a worker that dies loses only its run, which is repeated", async () => {
    let deaths = 2;
    const dies = ({ seed }: Started) => (seed === 2 && deaths-- > 0 ? "the engine's worker ended" : undefined);
    const one = campaign(new Fake(dies), new Fake(dies));
    const cubic = contestant("cubic");
    await one.run([cubic], [1, 2, 3, 4]);
    expect(seedsOf(one, cubic)).toEqual([1, 2, 3, 4]);
    expect(one.again.value).toBe(2);
    expect(one.faults.value.size).toBe(0);
  });

  test("a run whose worker always dies is reported as an error, and the others finish", async () => {
    const dies = ({ sets }: Started) => (sets?.[0]?.[1] === "bbr" ? "the engine has no memory left" : undefined);
    const one = campaign(new Fake(dies));
    const [cubic, bbr] = [contestant("cubic"), contestant("bbr")];
    await one.run([bbr, cubic], [1, 2]);
    expect(seedsOf(one, cubic)).toEqual([1, 2]);
    expect([...one.faults.value.values()]).toEqual(["the engine has no memory left"]);
    expect(one.left.value).toBe(0);
  });

  test("an error in a scenario is reported immediately, with its path", async () => {
    let starts = 0;
    const wrong = () => {
      starts++;
      return "wrong rate";
    };
    const one = campaign(new Fake(wrong));
    await one.run([contestant("cubic")], [1, 2, 3]);
    expect([...one.faults.value.values()]).toEqual(["links[0].rate: wrong rate"]);
    expect(starts).toBe(1);
  });

  test("a cancelled comparison retains finished runs and resumes after them", async () => {
    const engine = new Fake();
    const one = campaign(engine);
    const cubic = contestant("cubic");
    const running = one.run([cubic], [1, 2, 3, 4]);
    while (seedsOf(one, cubic).length < 2) {
      await new Promise((done) => setImmediate(done));
    }
    one.cancel();
    await running;
    expect(engine.closed).toBeGreaterThan(0);
    expect(one.isRunning.value).toBe(false);
    const kept = seedsOf(one, cubic);
    expect(kept.slice(0, 2)).toEqual([1, 2]);
    expect(kept.length).toBeLessThan(4);
    await one.run([cubic], [1, 2, 3, 4]);
    expect(seedsOf(one, cubic)).toEqual([1, 2, 3, 4]);
  });

  test("a variant without randomness runs once", async () => {
    let starts = 0;
    const one = campaign(
      new Fake(() => {
        starts++;
        return undefined;
      }),
    );
    await one.run([contestant("cubic", false)], [1, 2, 3]);
    expect(starts).toBe(1);
  });

  test("if an engine cannot be opened, the others make its runs", async () => {
    const full = new Fake(() => new FullError("accepts no more connections"));
    const one = campaign(full, new Fake(), full);
    const cubic = contestant("cubic");
    await one.run([cubic], [1, 2, 3, 4]);
    expect(seedsOf(one, cubic)).toEqual([1, 2, 3, 4]);
    expect([one.again.value, one.faults.value.size, one.left.value]).toEqual([0, 0, 0]);
  });

  test("an error is reported if no engine can be opened", async () => {
    const full = () => new Fake(() => new FullError("accepts no more connections"));
    const one = campaign(full(), full());
    await one.run([contestant("cubic")], [1, 2, 3, 4]);
    expect([...one.faults.value.values()]).toEqual(["accepts no more connections"]);
    expect(one.left.value).toBe(0);
  });

  test("a run advances in parts, so that a remote engine soon notices a cancellation", async () => {
    const engine = new Fake();
    await campaign(engine).run([contestant("cubic")], [1]);
    expect(engine.steps).toEqual([2_000_000, 2_000_000]);
  });

  test("engines are closed when the runs are over", async () => {
    const engine = new Fake();
    await campaign(engine).run([contestant("cubic")], [1, 2]);
    expect(engine.closed).toBe(1);
  });
});
