/** A WebSocket of `lightlag studio`: the token goes first, and a welcome answers it. */

import { EngineError, FullError } from "./protocol.ts";

/** Where it listens, and the token that it wants. */
export interface Address {
  url: string;
  token: string;
}

/** A WebSocket as far as it is used here, so that tests can give another. */
export interface Wire {
  binaryType: BinaryType;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent<string | ArrayBuffer>) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}

export type Connect = (url: string) => Wire;

export const connect: Connect = (url) => new WebSocket(url);

/** The server takes no more connections. */
const FULL = 4429;

/** Why a connection ended, in words. */
export function reason({ code, reason: why }: Pick<CloseEvent, "code" | "reason">): string {
  if (code === 4401) {
    return "lightlag studio refused the token; open the address that it printed";
  }
  if (code === FULL) {
    return `lightlag studio takes no more connections (${why}); close other pages of it`;
  }
  return why
    ? `lightlag studio ended the connection (${why})`
    : "lightlag studio has ended or does not answer; start it again, and open the address that it prints";
}

/**
 * Opens a connection.
 *
 * @throws {EngineError} why there is none; {@link FullError} where the server takes no more
 */
export function opened(
  address: Address,
  hear: (data: string | ArrayBuffer) => void,
  end: (why: string) => void,
  open: Connect = connect,
): Promise<Wire> {
  return new Promise((settle, refuse) => {
    const wire = open(address.url);
    let isWelcome = false;
    wire.binaryType = "arraybuffer";
    wire.onopen = () => wire.send(JSON.stringify({ token: address.token }));
    wire.onmessage = ({ data }) => {
      if (isWelcome) {
        hear(data);
      } else {
        isWelcome = true;
        settle(wire);
      }
    };
    wire.onclose = (event) => {
      const why = reason(event);
      if (isWelcome) {
        end(why);
      } else {
        refuse(event.code === FULL ? new FullError(why) : new EngineError(why));
      }
    };
  });
}
