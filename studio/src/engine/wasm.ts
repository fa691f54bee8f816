/** The engine as a module of WebAssembly. */

interface Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  ask(room: number, length: number): number;
  done(answer: number): void;
}

/** Fetches and compiles the module. Media types other than `application/wasm` are accepted. */
export async function compiled(address: string | URL): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(`the engine is not at ${address}: ${response.status} ${response.statusText}`);
  }
  if (response.headers.get("content-type")?.startsWith("application/wasm")) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** One engine with its own memory. */
export class Instance {
  private readonly exports: Exports;
  private readonly encoder = new TextEncoder();

  private constructor(instance: WebAssembly.Instance) {
    this.exports = instance.exports as unknown as Exports;
  }

  static async of(module: WebAssembly.Module): Promise<Instance> {
    return new Instance(await WebAssembly.instantiate(module, {}));
  }

  /**
   * Processes a request in JSON and returns bytes for {@link decode}.
   *
   * @throws {WebAssembly.RuntimeError} a trap; this instance must not be used afterwards
   */
  ask(request: string): ArrayBuffer {
    const { memory, room, ask, done } = this.exports;
    const bytes = this.encoder.encode(request);
    const place = room(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    // The length takes 8 bytes, of which 4 are enough for a memory of 32 bits.
    const answer = ask(place, bytes.length) >>> 0;
    const length = new DataView(memory.buffer).getUint32(answer, true);
    const copy = memory.buffer.slice(answer + 8, answer + 8 + length) as ArrayBuffer;
    done(answer);
    return copy;
  }
}
