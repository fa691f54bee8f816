import { expect, test } from "vitest";
import { Remote } from "./remote.ts";
import type { Wire } from "./socket.ts";

/** A server simulated by the test. */
class Played implements Wire {
  binaryType: BinaryType = "blob";
  onopen: Wire["onopen"] = null;
  onmessage: Wire["onmessage"] = null;
  onclose: Wire["onclose"] = null;
  sent: Record<string, unknown>[] = [];
  isClosed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  tell(data: string | ArrayBuffer): void {
    this.onmessage?.({ data } as MessageEvent);
  }

  welcome(): void {
    this.onopen?.({} as Event);
    this.tell('{"event":"welcome"}');
  }

  end(code: number, reason = ""): void {
    this.onclose?.({ code, reason } as CloseEvent);
  }
}

function answer(id: number, head: unknown, column: number[] = []): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const from = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(4 + from + 8 * column.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, id, true);
  view.setUint32(4, text.length, true);
  bytes.set(text, 8);
  column.forEach((value, at) => {
    view.setFloat64(4 + from + 8 * at, value, true);
  });
  return bytes.buffer;
}

function remote() {
  const wires: Played[] = [];
  const engine = new Remote({ url: "ws://x/door", token: "t" }, () => {
    const wire = new Played();
    wires.push(wire);
    return wire;
  });
  const settled = async () => {
    for (let turn = 0; turn < 5; turn++) {
      await Promise.resolve();
    }
  };
  return { engine, wires, settled };
}

test("the token is sent first, and responses are matched to their requests in any order", async () => {
  const { engine, wires, settled } = remote();
  const first = engine.ask({ op: "about" });
  const second = engine.ask({ op: "close", run: 3 });
  expect(wires).toHaveLength(1);
  wires[0]?.welcome();
  await settled();
  expect(wires[0]?.binaryType).toBe("arraybuffer");
  expect(wires[0]?.sent).toEqual([{ token: "t" }, { op: "about", id: 0 }, { op: "close", run: 3, id: 1 }]);
  wires[0]?.tell(answer(1, { closed: true }));
  wires[0]?.tell(answer(0, { version: "9" }));
  expect(await second).toEqual({ closed: true });
  expect(await first).toEqual({ version: "9" });
  expect(engine.load).toBe(0);
});

test("columns are read after the ID", async () => {
  const { engine, wires, settled } = remote();
  const asked = engine.ask({ op: "places_at", place: 0, time_s: 0 });
  wires[0]?.welcome();
  await settled();
  const columns = [{ name: "x", type: "f64", at: 0 }];
  wires[0]?.tell(answer(0, { time_s: 0, tables: { places: { rows: 2, columns } } }, [1.5, -2]));
  expect([...((await asked).tables.places?.columns.x?.values ?? [])]).toEqual([1.5, -2]);
});

test("an error of the engine is raised with its message", async () => {
  const { engine, wires, settled } = remote();
  const asked = engine.ask({ op: "about" });
  wires[0]?.welcome();
  await settled();
  wires[0]?.tell(answer(0, { error: { message: "toml: is code" } }));
  await expect(asked).rejects.toThrow("toml: is code");
});

test("a lost server is reported, and the next request reconnects", async () => {
  const { engine, wires, settled } = remote();
  const lost = engine.ask({ op: "about" });
  wires[0]?.welcome();
  await settled();
  wires[0]?.end(1006);
  await expect(lost).rejects.toThrow("lightlag studio has stopped or does not respond; start it again");
  const again = engine.ask({ op: "about" });
  expect(wires).toHaveLength(2);
  wires[1]?.welcome();
  await settled();
  wires[1]?.tell(answer(1, { version: "9" }));
  expect(await again).toEqual({ version: "9" });
});

test.each([
  [4401, "", "rejected the token"],
  [4429, "16 connections are open already", "accepts no more connections (16 connections are open already)"],
  [1006, "", "has stopped or does not respond"],
])("a connection that is closed with %i reports the reason", async (code, why, said) => {
  const { engine, wires } = remote();
  const asked = engine.ask({ op: "about" });
  wires[0]?.end(code, why);
  await expect(asked).rejects.toThrow(said);
});

test("a closed engine does not reply, and closes its connection", async () => {
  const { engine, wires, settled } = remote();
  const asked = engine.ask({ op: "about" });
  wires[0]?.welcome();
  await settled();
  engine.close();
  await expect(asked).rejects.toThrow("the engine is closed");
  await settled();
  expect(wires[0]?.isClosed).toBe(true);
  await expect(engine.ask({ op: "about" })).rejects.toThrow("the engine is closed");
});
