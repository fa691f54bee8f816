/** The server of `lightlag studio` with the built page, in a separate directory. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PYTHON = process.env.PYTHON ?? join(ROOT, ".venv/bin/python");

export class Server {
  private constructor(
    private readonly process: ChildProcess,
    /** The address to open, with its token. */
    readonly address: string,
    readonly folder: string,
  ) {}

  /** Starts the server in an empty directory, which `prepare` may fill first. */
  static async start(
    options: string[],
    prepare: (folder: string) => Promise<unknown> = async () => {},
  ): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "lightlag-studio-"));
    await prepare(folder);
    const process = spawn(PYTHON, ["-m", "lightlag", "studio", "--no-browser", "--port", "0", ...options], {
      cwd: folder,
      env: { ...globalThis.process.env, PYTHONPATH: join(ROOT, "python"), PYTHONUNBUFFERED: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    const address = await new Promise<string>((settle, refuse) => {
      const hear = (part: Buffer) => {
        said += part;
        const found = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/.exec(said);
        if (found) {
          settle(found[0]);
        }
      };
      process.stdout.on("data", hear);
      process.stderr.on("data", hear);
      process.once("exit", (code) => refuse(new Error(`the server ended with ${code}: ${said}`)));
      process.once("error", refuse);
    });
    return new Server(process, address, folder);
  }

  /** Runs another command of lightlag in a directory. */
  static async lightlag(folder: string, ...options: string[]): Promise<void> {
    const process = spawn(PYTHON, ["-m", "lightlag", ...options], {
      cwd: folder,
      env: { ...globalThis.process.env, PYTHONPATH: join(ROOT, "python") },
      stdio: "ignore",
    });
    const [code] = await once(process, "exit");
    if (code !== 0) {
      throw new Error(`lightlag ${options.join(" ")} ended with ${code}`);
    }
  }

  /** Ends the server as Ctrl-C does, or immediately, and removes its directory. */
  async end(signal: "SIGINT" | "SIGKILL" = "SIGINT"): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill(signal);
      await ended;
    }
  }

  async forget(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}
