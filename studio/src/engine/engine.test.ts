import { describe, expect, test } from "vitest";
import { Engine, type Line } from "./client.ts";
import { Pool } from "./pool.ts";
import { decode, EngineError, type Request, type Table } from "./protocol.ts";
import { type FromWorker, Serving, type ToWorker } from "./serving.ts";

/** A response as the engine writes it. */
function answer(head: unknown, data: Uint8Array = new Uint8Array()): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const from = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(from + data.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(data, from);
  return bytes.buffer;
}

describe("decode", () => {
  test("reads columns of all types and captures", () => {
    const data = new Uint8Array(32);
    const view = new DataView(data.buffer);
    view.setFloat64(0, 0.25, true);
    view.setFloat64(8, Number.NaN, true);
    view.setUint32(16, 7, true);
    view.setUint32(20, 0xffffffff, true);
    data.set([1, 0], 24);
    data.set([9, 8, 7], 26);
    const tables = {
      trace: {
        rows: 2,
        columns: [
          { name: "time_s", type: "f64", at: 0 },
          { name: "flow", type: "u32", at: 16, names: "flows" },
          { name: "backward", type: "u8", at: 24 },
        ],
      },
    };
    const read = decode(answer({ now_s: 1, tables, captures: [{ name: "a", at: 26, bytes: 3 }] }, data)) as {
      now_s: number;
      tables: Record<string, Table>;
      captures: { data: Uint8Array }[];
    };
    expect(read.now_s).toBe(1);
    const { time_s, flow, backward } = read.tables.trace?.columns ?? {};
    expect([...(time_s?.values ?? [])]).toEqual([0.25, Number.NaN]);
    expect([...(flow?.values ?? [])]).toEqual([7, 0xffffffff]);
    expect(flow?.names).toBe("flows");
    expect([...(backward?.values ?? [])]).toEqual([1, 0]);
    expect([...(read.captures[0]?.data ?? [])]).toEqual([9, 8, 7]);
  });

  test("an error response and an invalid response raise errors", () => {
    expect(() => decode(answer({ error: { message: "no such run" } }))).toThrow(new EngineError("no such run"));
    expect(() => decode(new ArrayBuffer(2))).toThrow("too short");
    const long = answer({});
    new DataView(long).setUint32(0, 999, true);
    expect(() => decode(long)).toThrow("specifies a head of 999");
  });
});

describe("Serving", () => {
  test("a trap gives one clear error, and the next request gets a new engine", async () => {
    let made = 0;
    const serving = new Serving(async () => {
      const number = ++made;
      return {
        ask: (request: string) => {
          if (request.includes("step")) {
            throw new WebAssembly.RuntimeError("unreachable");
          }
          return answer({ number });
        },
      };
    });
    const trapped = await serving.answer(1, { op: "step", run: 0, until_s: 1 });
    expect(trapped).toEqual({ id: 1, message: expect.stringContaining("the engine stopped (unreachable)") });
    const after = (await serving.answer(2, { op: "about" })) as { answer: ArrayBuffer };
    expect(decode(after.answer)).toEqual({ number: 2 });
  });
});

/** A worker that records its requests, and replies only when the test calls `reply`. */
class FakeLine implements Line {
  onmessage: Line["onmessage"] = null;
  onerror: Line["onerror"] = null;
  ended = false;
  readonly asked: { id: number; request: Request }[] = [];

  postMessage(message: ToWorker): void {
    if (message.kind === "ask") {
      this.asked.push(message);
    }
  }

  terminate(): void {
    this.ended = true;
  }

  reply(reply: FromWorker): void {
    this.onmessage?.({ data: reply } as MessageEvent<FromWorker>);
  }
}

function fake(): { lines: FakeLine[]; engine: Engine } {
  const lines: FakeLine[] = [];
  const parts = async () => ({ module: {} as WebAssembly.Module, schema: {} });
  const engine = new Engine(parts, () => {
    const line = new FakeLine();
    lines.push(line);
    return line;
  });
  return { lines, engine };
}

const turn = () => new Promise((done) => setImmediate(done));

describe("Engine", () => {
  test("responses are matched to their requests in any order", async () => {
    const { lines, engine } = fake();
    const first = engine.ask({ op: "write", scenario: 1 });
    const second = engine.ask({ op: "write", scenario: 2 });
    await turn();
    expect(engine.load).toBe(2);
    lines[0]?.reply({ id: 1, answer: answer({ toml: "two" }) });
    lines[0]?.reply({ id: 0, answer: answer({ toml: "one" }) });
    expect(await first).toEqual({ toml: "one" });
    expect(await second).toEqual({ toml: "two" });
  });

  test("a worker that died rejects pending requests and is replaced", async () => {
    const { lines, engine } = fake();
    const lost = engine.ask({ op: "about" });
    await turn();
    lines[0]?.onerror?.({ message: "out of memory" } as ErrorEvent);
    await expect(lost).rejects.toThrow("the engine's worker ended (out of memory)");
    const next = engine.ask({ op: "write", scenario: {} });
    await turn();
    expect(lines).toHaveLength(2);
    expect(lines[0]?.ended).toBe(true);
    lines[1]?.reply({ id: lines[1]?.asked[0]?.id ?? -1, answer: answer({ toml: "" }) });
    expect(await next).toEqual({ toml: "" });
  });

  test("the end of a replaced worker has no effect", async () => {
    const { lines, engine } = fake();
    const lost = engine.ask({ op: "about" });
    await turn();
    const late = lines[0]?.onerror;
    engine.stop();
    await expect(lost).rejects.toThrow("the engine was stopped");
    await turn();
    expect(late).toBeTypeOf("function");
    expect(lines[0]?.onerror).toBeNull();
  });

  test("a closed engine does not reply", async () => {
    const { engine } = fake();
    engine.close();
    await expect(engine.ask({ op: "about" })).rejects.toThrow("closed");
  });

  test("an engine that cannot be fetched reports the reason, and may be fetched later", async () => {
    let tries = 0;
    const lines: FakeLine[] = [];
    const engine = new Engine(
      async () => {
        if (tries++ === 0) {
          throw new Error("404 Not Found");
        }
        return { module: {} as WebAssembly.Module, schema: {} };
      },
      () => {
        const line = new FakeLine();
        lines.push(line);
        return line;
      },
    );
    await expect(engine.ask({ op: "about" })).rejects.toThrow("the engine does not start: 404 Not Found");
    void engine.ask({ op: "about" });
    await turn();
    expect(lines[0]?.asked).toHaveLength(1);
  });
});

test("a pool assigns one job at a time to an engine", async () => {
  const pool = new Pool([fake().engine, fake().engine]);
  let now = 0;
  let most = 0;
  const job = async () => {
    most = Math.max(most, ++now);
    await turn();
    now--;
    return most;
  };
  await Promise.all(Array.from({ length: 7 }, () => pool.use(job)));
  expect(most).toBe(2);
});
