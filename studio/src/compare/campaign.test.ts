import { describe, expect, test } from "vitest";
import { Pool } from "../engine/pool.ts";
import { type Door, FullError, type Request } from "../engine/protocol.ts";
import { Campaign, type Contestant } from "./campaign.ts";

type Started = Extract<Request, { op: "start" }>;

/** An engine that runs a scenario in no time; `fate` says what happens at a start. */
class Fake {
  private last: Started | undefined;
  closed = 0;
  /** Most events of each step. */
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
      const flow = {
        name: "f",
        congestion: "cubic",
        bottleneck: null,
        goodput_bps: seed,
        delivered_bytes: seed,
        start_s: 0,
        finish_s: 1,
      };
      const counts = { sent_segments: 10, retransmitted_segments: 1, timeouts: 0, min_rtt_s: 1, mean_rtt_s: 1 };
      const flows = [{ ...flow, ...counts }];
      return { summary: { flows, links: [], seed, simulated_s: 1, result_hash: `${toml} ${seed}` }, tables: {} };
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
  asked: { toml: "t", files: {}, sets: [["defaults.tcp.congestion", name]] },
});

const seedsOf = (one: Campaign, { asked }: Contestant) => one.of(asked, [1, 2, 3, 4]).map(({ seed }) => seed);

describe("Campaign", () => {
  test("variants have the same seeds, and nothing finished is made again when one is added", async () => {
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

  test("a worker that dies loses only its run, which is made again", async () => {
    let deaths = 2;
    const dies = ({ seed }: Started) => (seed === 2 && deaths-- > 0 ? "the engine's worker ended" : undefined);
    const one = campaign(new Fake(dies), new Fake(dies));
    const cubic = contestant("cubic");
    await one.run([cubic], [1, 2, 3, 4]);
    expect(seedsOf(one, cubic)).toEqual([1, 2, 3, 4]);
    expect(one.again.value).toBe(2);
    expect(one.faults.value.size).toBe(0);
  });

  test("one that always dies is told as a fault, and the others finish", async () => {
    const dies = ({ sets }: Started) => (sets?.[0]?.[1] === "bbr" ? "the engine has no memory left" : undefined);
    const one = campaign(new Fake(dies));
    const [cubic, bbr] = [contestant("cubic"), contestant("bbr")];
    await one.run([bbr, cubic], [1, 2]);
    expect(seedsOf(one, cubic)).toEqual([1, 2]);
    expect([...one.faults.value.values()]).toEqual(["the engine has no memory left"]);
    expect(one.left.value).toBe(0);
  });

  test("a mistake in a scenario is told at once, with its place", async () => {
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

  test("a cancelled comparison keeps what has finished and goes on from there", async () => {
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

  test("a variant without chance runs once", async () => {
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

  test("an engine for which there is no room leaves its runs to the others", async () => {
    const full = new Fake(() => new FullError("takes no more connections"));
    const one = campaign(full, new Fake(), full);
    const cubic = contestant("cubic");
    await one.run([cubic], [1, 2, 3, 4]);
    expect(seedsOf(one, cubic)).toEqual([1, 2, 3, 4]);
    expect([one.again.value, one.faults.value.size, one.left.value]).toEqual([0, 0, 0]);
  });

  test("where there is room for none, that is told", async () => {
    const full = () => new Fake(() => new FullError("takes no more connections"));
    const one = campaign(full(), full());
    await one.run([contestant("cubic")], [1, 2, 3, 4]);
    expect([...one.faults.value.values()]).toEqual(["takes no more connections"]);
    expect(one.left.value).toBe(0);
  });

  test("a run goes on in parts, so that an engine elsewhere notices soon that nobody waits", async () => {
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
