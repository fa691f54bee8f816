import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openToml, PAIR, pageOf, Studio, violations } from "./browser.ts";
import { Server } from "./server.ts";

const PAGE = new URL("../../tests/data/page.json", import.meta.url);
const TOML = `${PAIR}traffic = { kind = "page", file = "page.json", count = 2, think = "1 s" }
[[flows]]
name = "one load"
from = "a"
to = "b"
traffic = { kind = "page", file = "page.json", http = "2", count = 1 }
`;

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

/** Runs two flows with pages, and waits for the waterfall of the first one. */
async function waterfall(options = {}): Promise<{ page: Page; complaints: string[] }> {
  const opened = await studio.page(options);
  const { page } = opened;
  await openToml(page, TOML);
  const buffer = await readFile(PAGE);
  await page.locator("input[type=file]").setInputFiles({ name: "page.json", mimeType: "application/json", buffer });
  await page.getByText("page.json was added to the scenario").waitFor();
  await page.locator(".standing:is(.good, .warn)").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".waterfall .bars svg").waitFor();
  return opened;
}

/** Returns the description of the selected object. */
function object(page: Page): Promise<string | null> {
  return page.locator("#waterfall-object").textContent();
}

/** Saves a file with a button of the panel. Returns its name and content. */
async function saved(page: Page, name: string): Promise<{ name: string; content: Buffer }> {
  const waiting = page.waitForEvent("download");
  await page.locator(".waterfall").getByRole("button", { name }).click();
  const file = await waiting;
  return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
}

describe("the waterfall of a page", () => {
  test("has a bar for each object, the choice of flow and load, and no complaints in either theme", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await waterfall({ colorScheme });
      const panel = page.getByRole("region", { name: "Waterfall" });
      const choice = (name: string) => panel.getByRole("combobox", { name, exact: true });
      expect(await panel.locator(".bars svg g").count()).toBe(16);
      const facts = panel.locator(":scope > p").first();
      await expect
        .poll(() => facts.textContent())
        .toMatch(/^a->b: 16 objects over 6 connections, 508\.3 kB; loaded after .* s; ByteIndex .* s\.$/);
      await panel.getByText(/^onLoad [\d.]+ s$/).waitFor();
      const first = await panel.locator(".bars").getAttribute("aria-label");
      await choice("Load").selectOption("2");
      await expect.poll(() => panel.locator(".bars").getAttribute("aria-label")).toMatch(/^Load 2 of the page of a->b/);
      expect(first).toMatch(/^Load 1 of the page of a->b/);
      await choice("Flow").selectOption("one load");
      await expect.poll(() => facts.textContent()).toMatch(/^one load: 16 objects over 1 connection,/);
      expect(await choice("Load").count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("describes the object that the arrow keys select, and has a table", async () => {
    const { page } = await waterfall();
    await page.locator(".waterfall .bars").focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => object(page)).toMatch(/^index\.html: 24 kB over a->b, known 0 s, requested /);
    await page.keyboard.press("End");
    await expect.poll(() => object(page)).toMatch(/^news\.jpg: 52 kB over /);
    await page.keyboard.press("Escape");
    await expect.poll(() => object(page)).toContain("Point at an object for its details");
    await page.locator(".waterfall summary").click();
    expect(await page.getByRole("table", { name: "Objects of the page" }).locator("tbody tr").count()).toBe(16);
    await page.context().close();
  });

  test("is saved as SVG, PNG and CSV", async () => {
    const { page } = await waterfall();
    const svg = await saved(page, "Save SVG");
    expect(svg.name).toMatch(/^pair-waterfall-of-a--b--load-1\.svg$/);
    expect(svg.content.toString()).toMatch(/^<svg .*>Waterfall of a-&gt;b, load 1<.*>index\.html</s);
    expect((await saved(page, "Save PNG")).content.subarray(1, 4).toString()).toBe("PNG");
    const csv = (await saved(page, "Save CSV")).content.toString().trimEnd().split("\n");
    expect(csv).toHaveLength(17);
    expect(csv[1]).toMatch(/^index\.html,a->b,24000,0,[\d.]+,[\d.]+,[\d.]+$/);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const menu = page.getByRole("dialog", { name: "Save", exact: true });
    expect(await menu.getByRole("button", { name: "Waterfall of a->b, load 1 PNG" }).count()).toBe(1);
    const waiting = page.waitForEvent("download");
    await menu.getByRole("button", { name: "Report HTML" }).click();
    const report = await readFile(await (await waiting).path(), "utf8");
    expect(report).toMatch(/<h2 id="waterfall">.*<figcaption>Load 1 of the page of a-&gt;b: 16 objects/s);
    await page.context().close();
  });

  test("is absent in runs without pages", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".hash").waitFor();
    expect(await page.locator(".waterfall").count()).toBe(0);
    await page.context().close();
  });

  test("comes from the native engine too, and is in the report of a result of this machine", async () => {
    const browser = await launch();
    const server = await Server.start(["pair.toml"], async (folder) => {
      await writeFile(join(folder, "pair.toml"), TOML);
      await copyFile(PAGE, join(folder, "page.json"));
    });
    const { page, complaints } = await pageOf(browser);
    await page.goto(server.address);
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.getByLabel("Run on").selectOption("machine");
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.locator(".waterfall .bars svg").waitFor();
    const said = await page.locator(".waterfall .bars svg > title").textContent();
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByRole("button", { name: "Run on this machine" }).click();
    await page
      .getByRole("button", { name: /^Report of pair/ })
      .first()
      .click();
    const caption = page.frameLocator("dialog iframe").locator("figcaption").filter({ hasText: "ByteIndex" });
    // The report of the package has the same sentence.
    await expect.poll(() => caption.textContent()).toContain(said);
    expect(complaints).toEqual([]);
    await browser.close();
    await server.forget();
  });
});
