/** A WebSocket of `lightlag studio`: the client sends the token first, and the server replies with a welcome. */

import { EngineError, FullError } from "./protocol.ts";

/** Listening address of the server, and its token. */
export interface Address {
  url: string;
  token: string;
}

/** The part of a WebSocket's interface that is used here, so that tests can replace it. */
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

/** Close code: the server accepts no more connections. */
const FULL = 4429;

/** Returns the reason of a closed connection, as text. */
export function reason({ code, reason: why }: Pick<CloseEvent, "code" | "reason">): string {
  if (code === 4401) {
    return "lightlag studio rejected the token; open the address that it printed";
  }
  if (code === FULL) {
    return `lightlag studio accepts no more connections (${why}); close other tabs of the studio`;
  }
  return why
    ? `lightlag studio closed the connection (${why})`
    : "lightlag studio has stopped or does not respond; start it again, and open the address that it prints";
}

/**
 * Opens a connection.
 *
 * @throws {EngineError} if it cannot be opened; {@link FullError} if the server accepts no more connections
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
