/** The native engine, over the WebSocket of `lightlag studio`. */

import { type AnswerTo, type Door, decode, EngineError, type Request } from "./protocol.ts";
import { type Address, type Connect, connect, opened, type Wire } from "./socket.ts";

interface Waiting {
  settle(answer: ArrayBuffer): void;
  refuse(error: EngineError): void;
}

/** An engine on this machine. A closed connection is reopened at the next request; its runs are lost. */
export class Remote implements Door {
  private wire: Promise<Wire> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private isClosed = false;

  constructor(
    private readonly address: Address,
    private readonly open: Connect = connect,
  ) {}

  async ask<R extends Request>(request: R): Promise<AnswerTo<R>> {
    return decode(await this.bytes(request)) as AnswerTo<R>;
  }

  /** Returns the response without decoding it. */
  async bytes(request: Request): Promise<ArrayBuffer> {
    if (this.isClosed) {
      throw new EngineError("the engine is closed");
    }
    this.wire ??= this.opened();
    const wire = await this.wire;
    const id = this.next;
    this.next = (this.next + 1) % 2 ** 32;
    return new Promise((settle, refuse) => {
      this.waiting.set(id, { settle, refuse });
      wire.send(JSON.stringify({ ...request, id }));
    });
  }

  /** Number of pending requests. */
  get load(): number {
    return this.waiting.size;
  }

  /** Ends the connection, and with it the engine's current work. The next request opens another. */
  stop(why = "the engine was stopped"): void {
    const wire = this.wire;
    this.drop(why);
    wire?.then(
      (open) => {
        open.onclose = null;
        open.onmessage = null;
        open.close();
      },
      () => undefined,
    );
  }

  close(): void {
    this.isClosed = true;
    this.stop("the engine is closed");
  }

  private opened(): Promise<Wire> {
    const wire = opened(
      this.address,
      (data) => this.receive(data),
      (why) => {
        if (this.wire === wire) {
          this.drop(why);
        }
      },
      this.open,
    );
    wire.catch(() => {
      if (this.wire === wire) {
        this.wire = undefined;
      }
    });
    return wire;
  }

  /**
   * Receives a message: a request's id in four bytes, then the response, which is copied so that its columns are
   * aligned.
   */
  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string" || data.byteLength < 4) {
      return;
    }
    const id = new DataView(data).getUint32(0, true);
    this.waiting.get(id)?.settle(data.slice(4));
    this.waiting.delete(id);
  }

  private drop(why: string): void {
    this.wire = undefined;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { refuse } of all) {
      refuse(new EngineError(why));
    }
  }
}
