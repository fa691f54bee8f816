import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "./browser.ts";
import { type Driven, FIREFOX, firefox, HAS_WEBKIT, webkit } from "./driver.ts";

/** A guard against hanging, in milliseconds; the tests take a few seconds on an idle machine. */
const LIMIT = 400_000;

let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  server = await serve();
});

afterAll(() => server.close());

/** Opens the studio, runs its first scenario, and waits until its hash is compared with the native one. */
async function smoke(browser: Driven): Promise<void> {
  const told = (selector: string) =>
    browser.run(`return document.querySelector(${JSON.stringify(selector)})?.textContent`);
  try {
    await browser.open(`${server.address}?view=scenario`);
    await expect.poll(() => told(".standing:is(.good, .warn)")).toBeTruthy();
    await browser.run('[...document.querySelectorAll("a")].find(({ textContent }) => textContent === "Run").click()');
    await expect.poll(() => told("section.outcome"), { timeout: 240_000 }).toContain("identical to native");
    expect(await browser.run('return typeof document.createElement("canvas").getContext("2d")')).toBe("object");
  } finally {
    await browser.close();
  }
}

test.skipIf(!FIREFOX)(
  "Firefox runs a preset with the native hash (needs firefox-esr)",
  async () => {
    await smoke(await firefox());
  },
  LIMIT,
);

test.skipIf(!HAS_WEBKIT)(
  "WebKit runs a preset with the native hash (needs webkit2gtk-driver and libgtk-3-bin)",
  async () => {
    await smoke(await webkit());
  },
  LIMIT,
);
