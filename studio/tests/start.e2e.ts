import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openToml, PAIR, Studio, text, violations } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

const DIST = new URL("../../dist/studio/", import.meta.url);
/** Maximum sizes of the first load in bytes of gzip: the page, and the engine, which has all of the simulator. */
const MOST_BYTES = { page: 200_000, engine: 1_950_000 };

const goodput = (page: Page) => page.locator(".start .values dd").nth(1).textContent();

async function slide(page: Page, steps: number): Promise<void> {
  await page.getByRole("slider", { name: /^Loss/ }).focus();
  for (let step = 0; step < Math.abs(steps); step++) {
    await page.keyboard.press(steps > 0 ? "ArrowRight" : "ArrowLeft");
  }
}

describe("the first screen", () => {
  test("moves, and answers in words for each loss and algorithm", async () => {
    const { page, complaints } = await studio.page({}, "", ".start .headline");
    await expect
      .poll(() => page.locator(".moving-key .shown").textContent())
      .toMatch(/^[\d.]+ s: [1-9][\d,]* packets drawn/);
    const first = await goodput(page);
    await slide(page, 3);
    await expect.poll(() => goodput(page)).not.toBe(first);
    const lossy = await goodput(page);
    await page.getByRole("button", { name: "BBR instead of CUBIC" }).click();
    await expect.poll(() => goodput(page)).not.toBe(lossy);
    await expect
      .poll(() => page.locator(".start .repeat code").textContent())
      .toBe("lightlag run geo -s defaults.tcp.congestion=bbr -s links.1.loss=0.003");
    expect(await violations(page)).toEqual([]);
    // The scenario is one click away, and has the choices.
    await page.getByRole("link", { name: "Scenario" }).click();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    expect(await text(page)).toMatch(/congestion += "bbr"/);
    expect(await text(page)).toMatch(/loss += 0\.003/);
    await page.getByRole("link", { name: "Start" }).click();
    await page.getByRole("button", { name: "CUBIC instead of BBR" }).click();
    await slide(page, -3);
    await expect.poll(() => goodput(page)).toBe(first);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("leaves the scenario of the user alone", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    await page.getByRole("link", { name: "Start" }).click();
    const first = await page.locator(".start .headline").textContent();
    await page.getByRole("button", { name: "BBR instead of CUBIC" }).click();
    await expect.poll(() => page.locator(".start .headline").textContent()).not.toBe(first);
    await page.getByRole("link", { name: "Scenario" }).click();
    expect((await text(page)).trim()).toBe(PAIR.trim());
    await page.context().close();
  });

  test("a preset opens with its run", async () => {
    const { page } = await studio.page({}, "", ".start .card");
    await page.locator(".card", { has: page.locator('strong:text-is("lossy")') }).click();
    await page.locator(".outcome .hash").waitFor();
    expect(await page.locator(".outcome .repeat code").textContent()).toBe("lightlag run lossy");
    await page.context().close();
  });

  test.each([360, 768, 2560])("is not wider than a window of %i pixels", async (width) => {
    const { page } = await studio.page({ viewport: { width, height: 800 } }, "", ".start .card");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await page.context().close();
  });
});

test("the first load is small", async () => {
  const { page } = await studio.page({ serviceWorkers: "block" }, "", ".start .card");
  await page.waitForLoadState("networkidle");
  const names = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname.slice(1)),
  );
  const packed = async (all: string[]) => {
    let bytes = 0;
    for (const name of new Set(all)) {
      bytes += gzipSync(await readFile(new URL(name, DIST)), { level: 9 }).length;
    }
    return bytes;
  };
  const page_bytes = await packed(["index.html", ...names.filter((one) => /\.(js|css|json)$/.test(one))]);
  expect(page_bytes).toBeLessThan(MOST_BYTES.page);
  expect(await packed(["engine.wasm"])).toBeLessThan(MOST_BYTES.engine);
  // The editor, the drawing, the globe and the charts come when they are opened.
  expect(names.filter((name) => /editor|drawing|webgl|charts/.test(name))).toEqual([]);
  await page.context().close();
});
