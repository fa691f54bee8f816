/** The built page, served from this machine, in a browser without other network access. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const DIST = new URL("../../dist/studio/", import.meta.url);
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
const QUIET = ["--disable-background-networking", "--disable-component-update"];
const TYPES: Record<string, string> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  svg: "image/svg+xml",
  wasm: "application/wasm",
};

/** Browser options for WebGL on the CPU. */
export const GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

/** A scenario with two nodes and an unlimited flow. */
export const PAIR = `name = "pair"
duration = "20 s"
[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "20 packets"
[[flows]]
from = "a"
to = "b"
`;

/** Opens a browser; the caller closes it. */
export function launch(extra: string[] = []): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: [...ARGS, ...QUIET, ...extra] });
}

/** Opens a page in a new profile, and collects all errors that the browser reports. */
export async function pageOf(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  // A guard against hanging: how long a state takes depends on what else the machine does.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}

/** Serves the built page; the caller closes the server. */
export async function serve(): Promise<{ address: string; close(): Promise<unknown> }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname.replace(/^\/+/, "") || "index.html";
    readFile(fileURLToPath(new URL(path, DIST))).then(
      (bytes) => response.setHeader("content-type", TYPES[path.replace(/^.*\./, "")] ?? "text/plain").end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((done) => server.close(done)),
  };
}

/** A browser and a server of the page; the caller closes both. */
export class Studio {
  private constructor(
    private readonly browser: Browser,
    private readonly server: Awaited<ReturnType<typeof serve>>,
  ) {}

  static async open(extra: string[] = []): Promise<Studio> {
    const server = await serve();
    return new Studio(await launch(extra), server);
  }

  get address(): string {
    return this.server.address;
  }

  /**
   * Opens a page in a new profile, by default with the view of the scenario, collects all errors that the browser
   * reports, and waits until `ready` is shown: by default the state of the scenario.
   */
  async page(
    options: BrowserContextOptions = {},
    query = "?view=scenario",
    ready = ".standing:is(.good, .warn, .bad)",
  ): Promise<{ page: Page; complaints: string[] }> {
    const opened = await pageOf(this.browser, options);
    await opened.page.goto(this.address + query);
    await opened.page.locator(ready).first().waitFor();
    return opened;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.close();
  }
}

/** Returns the text in the editor. */
export function text(page: Page): Promise<string> {
  return page.locator(".cm-content").evaluate((content) => {
    const lines = content.querySelectorAll(".cm-line");
    return [...lines].map((line) => line.textContent).join("\n");
  });
}

/** Opens a scenario from a file, and waits until the engine has checked it. */
export async function openToml(page: Page, toml: string): Promise<void> {
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "a.toml", mimeType: "text/plain", buffer: Buffer.from(toml) });
  await page.getByText("a.toml is now the scenario").waitFor();
}

/** Opens an animation of a run, unless it is open. */
export async function animation(page: Page, name: string): Promise<void> {
  const button = page.getByRole("group", { name: "Animation" }).getByRole("button", { name: new RegExp(`^${name}$`) });
  if ((await button.getAttribute("aria-pressed")) !== "true") {
    await button.click();
  }
}

/** Returns a function that sends touch events to the browser. */
export async function fingers(
  page: Page,
): Promise<(kind: "Start" | "Move" | "End", ...at: [x: number, y: number][]) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  return async (kind, ...at) => {
    const touchPoints = at.map(([x, y], id) => ({ x, y, id }));
    await session.send("Input.dispatchTouchEvent", { type: `touch${kind}`, touchPoints });
  };
}

/** Runs an action that removes an element, and waits until it is gone. Another element may replace it immediately. */
export async function replacing(page: Page, selector: string, act: () => Promise<void>): Promise<void> {
  const before = await page.waitForSelector(selector);
  await act();
  await before.waitForElementState("hidden");
}

/** Returns the violations that axe finds in the current page. */
export async function violations(page: Page): Promise<string[]> {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);
  return page.evaluate(async () => {
    type Found = { violations: { id: string; nodes: { html: string }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(where: Document): Promise<Found> } };
    const found = await axe.run(document);
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
