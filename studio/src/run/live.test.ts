import { expect, test } from "vitest";
import { type CourseLine, Live, Refused } from "./live.ts";
import type { FromCourse, ToCourse } from "./messages.ts";

/** A worker that records its messages, and starts immediately unless it is set to reject. */
class FakeLine implements CourseLine {
  onmessage: CourseLine["onmessage"] = null;
  onerror: CourseLine["onerror"] = null;
  isEnded = false;
  readonly heard: ToCourse[] = [];

  constructor(private readonly isBad = false) {}

  postMessage(message: ToCourse): void {
    this.heard.push(message);
    if (message.kind === "start") {
      const started = { run: 0, end_s: 9, seed: 1, flows: ["a"], links: ["b"], nodes: [] };
      const problems = [{ path: "links[0]", message: "is not a link" }];
      this.tell(this.isBad ? { kind: "refused", problems } : { kind: "started", started });
    }
  }

  terminate(): void {
    this.isEnded = true;
  }

  tell(message: FromCourse): void {
    this.onmessage?.({ data: message } as MessageEvent<FromCourse>);
  }
}

function lines(isBad = false): { all: FakeLine[]; open: () => Promise<CourseLine> } {
  const all: FakeLine[] = [];
  return {
    all,
    open: async () => {
      const line = new FakeLine(isBad);
      all.push(line);
      return line;
    },
  };
}

const input = { toml: "" };

test("packets are reported unless the run starts at maximum speed", async () => {
  const { all, open } = lines();
  const slow = await Live.start(input, { speed: 2 }, open);
  const fast = await Live.start(input, { speed: Number.POSITIVE_INFINITY, seed: 4 }, open);
  expect([slow.hasPackets, fast.hasPackets]).toEqual([true, false]);
  const starts = all.map(({ heard }) => heard.find(({ kind }) => kind === "start"));
  expect(starts).toEqual([
    { kind: "start", input, packets: { from_s: 0, most: 2000 } },
    { kind: "start", input, seed: 4 },
  ]);
});

test("a scenario with errors is rejected with all of them", async () => {
  const { open } = lines(true);
  const refused = await Live.start(input, { speed: 1 }, open).catch((error) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect(refused.message).toBe("links[0]: is not a link");
  expect(refused.problems).toHaveLength(1);
});

test("a worker that ends gives one error for all pending requests, and a restart has a new one", async () => {
  const { all, open } = lines();
  const live = await Live.start(input, { speed: 1 }, open);
  live.play();
  const series = live.series({ table: "trace", column: "rtt_s", of: 0, from_s: 0, to_s: 1, points: 9 });
  all[0]?.onerror?.({ message: "it was killed" } as ErrorEvent);
  await expect(series).rejects.toThrow("the worker of the run ended (it was killed); start the run again");
  expect([live.state.value, all[0]?.isEnded]).toEqual(["failed", true]);
  await live.restart();
  expect([live.state.value, live.fault.value, live.round.value]).toEqual(["paused", "", 2]);
  live.play();
  expect(all[1]?.heard.at(-1)).toEqual({ kind: "go", how: "on" });
});

test("steps are requested only while there is a listener", async () => {
  const { all, open } = lines();
  const live = await Live.start(input, { speed: 1 }, open);
  const wishes = () =>
    all[0]?.heard.filter(({ kind }) => kind === "listen").map((message) => "wants" in message && message.wants);
  const end = live.onStep(() => undefined);
  end();
  expect(wishes()).toEqual([false, true, false]);
});

test("another speed is sent immediately", async () => {
  const { all, open } = lines();
  const live = await Live.start(input, { speed: 1 }, open);
  live.speed.value = 20;
  expect(all[0]?.heard.at(-1)).toEqual({ kind: "pace", speed: 20 });
});
