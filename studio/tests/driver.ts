/**
 * Other browsers than Chromium, through the automation that each brings: Marionette of Firefox, a protocol over TCP, and
 * WebKitWebDriver, which speaks WebDriver over HTTP.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A browser with one page; the caller closes it. */
export interface Driven {
  open(url: string): Promise<void>;
  /** Runs the body of a function in the page, and returns its JSON value. */
  run(body: string): Promise<unknown>;
  close(): Promise<void>;
}

export const FIREFOX = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) => existsSync(path));
const DRIVER = "/usr/bin/WebKitWebDriver";
const BROADWAY = "/usr/bin/broadwayd";
const MINI = ["4.1", "4.0"]
  .map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`)
  .find((path) => existsSync(path));
/** Whether WebKitGTK, its driver and a display without a screen are installed. */
export const HAS_WEBKIT = MINI !== undefined && existsSync(DRIVER) && existsSync(BROADWAY);

/** Starts Firefox without a window. */
export async function firefox(): Promise<Driven> {
  const profile = await mkdtemp(join(tmpdir(), "lightlag-firefox-"));
  const port = await freePort();
  const wishes = [
    `user_pref("marionette.port", ${port});`,
    'user_pref("app.update.enabled", false);',
    'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
    'user_pref("toolkit.telemetry.enabled", false);',
    'user_pref("network.captive-portal-service.enabled", false);',
    'user_pref("network.connectivity-service.enabled", false);',
  ];
  await writeFile(join(profile, "user.js"), wishes.join("\n"));
  const args = ["--headless", "--no-remote", "--marionette", "--profile", profile];
  const home = { HOME: profile, MOZ_HEADLESS: "1" };
  const process = started(FIREFOX ?? "firefox", args, home);
  const line = await Marionette.to(port, process);
  await line.send("WebDriver:NewSession", {});
  return {
    open: async (url) => {
      await line.send("WebDriver:Navigate", { url });
    },
    run: (body) => line.send("WebDriver:ExecuteScript", { script: body, args: [] }),
    close: async () => {
      line.end();
      await ended(process);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A connection to Firefox: messages are JSON after their length. */
class Marionette {
  private text = Buffer.alloc(0);
  private next = 1;
  private readonly waiting = new Map<number, { settle(value: unknown): void; refuse(error: Error): void }>();

  private constructor(private readonly socket: Socket) {
    socket.on("data", (part) => this.hear(part));
    socket.on("close", () => this.fail("Firefox has closed the connection"));
    socket.on("error", () => undefined);
  }

  /** Connects to a Firefox that is starting. */
  static async to(port: number, process: ChildProcess): Promise<Marionette> {
    while (process.exitCode === null) {
      const socket = connect(port, "127.0.0.1");
      const isOpen = await new Promise<boolean>((settle) => {
        socket.once("connect", () => settle(true));
        socket.once("error", () => settle(false));
      });
      if (isOpen) {
        return new Marionette(socket);
      }
      await pause(100);
    }
    throw new Error(`Firefox ended with ${process.exitCode}`);
  }

  send(command: string, parameters: object): Promise<unknown> {
    const id = this.next++;
    const text = JSON.stringify([0, id, command, parameters]);
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((settle, refuse) => this.waiting.set(id, { settle, refuse }));
  }

  end(): void {
    this.socket.destroy();
  }

  private hear(part: Buffer): void {
    this.text = Buffer.concat([this.text, part]);
    for (;;) {
      const colon = this.text.indexOf(":");
      const length = Number(this.text.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || this.text.length < colon + 1 + length) {
        return;
      }
      const message = JSON.parse(this.text.subarray(colon + 1, colon + 1 + length).toString());
      this.text = this.text.subarray(colon + 1 + length);
      // The first message introduces the server.
      if (Array.isArray(message)) {
        const [, id, error, value] = message as [
          number,
          number,
          { message: string } | null,
          { value?: unknown } | null,
        ];
        const waiting = this.waiting.get(id);
        this.waiting.delete(id);
        if (error) {
          waiting?.refuse(new Error(error.message));
        } else {
          waiting?.settle(value?.value);
        }
      }
    }
  }

  private fail(why: string): void {
    for (const { refuse } of this.waiting.values()) {
      refuse(new Error(why));
    }
    this.waiting.clear();
  }
}

/** Starts WebKitGTK's MiniBrowser on a display without a screen. */
export async function webkit(): Promise<Driven> {
  const [port, display] = [await freePort(), await freePort()];
  const home = await mkdtemp(join(tmpdir(), "lightlag-webkit-"));
  const own = {
    HOME: home,
    XDG_RUNTIME_DIR: home,
    GDK_BACKEND: "broadway",
    BROADWAY_DISPLAY: ":7",
    WEBKIT_DISABLE_COMPOSITING_MODE: "1",
    NO_AT_BRIDGE: "1",
    // JavaScript rejects the name of the locale C as a language.
    LANG: "en_US.UTF-8",
    LANGUAGE: "en_US",
    LC_ALL: "en_US.UTF-8",
  };
  const screen = started(BROADWAY, ["--address", "127.0.0.1", "--port", String(display), ":7"], own);
  const driver = started(DRIVER, [`--port=${port}`, "--host=127.0.0.1"], own);
  const send = async (method: string, path: string, body?: object) => {
    const options = body ? { method, body: JSON.stringify(body) } : { method };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, options);
    const { value } = (await answer.json()) as { value: { error?: string; message?: string; sessionId?: string } };
    if (!answer.ok) {
      throw new Error(`${value.error}: ${value.message}`);
    }
    return value;
  };
  const close = async () => {
    await ended(driver);
    await ended(screen);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    while (!(await fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined)) && driver.exitCode === null) {
      await pause(100);
    }
    const options = { binary: MINI, args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } };
    const { sessionId } = await send("POST", "/session", { capabilities });
    const session = `/session/${sessionId}`;
    return {
      open: async (url) => {
        await send("POST", `${session}/url`, { url });
      },
      run: (body) => send("POST", `${session}/execute/sync`, { script: body, args: [] }),
      close: async () => {
        await send("DELETE", session).catch(() => undefined);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function started(program: string, args: string[], own: Record<string, string>): ChildProcess {
  return spawn(program, args, { env: { ...process.env, ...own }, stdio: "ignore" });
}

async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) {
    const end = once(process, "exit");
    process.kill("SIGTERM");
    await end;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
