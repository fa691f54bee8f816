import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openToml, Studio, violations } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

/** Opens the view, which starts with four algorithms. */
async function view(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("button", { name: "cubic", pressed: true }).waitFor();
}

async function finished(page: Page, runs: number): Promise<void> {
  await page.getByText(`${runs} of ${runs} runs`, { exact: true }).waitFor();
}

const table = (page: Page) => page.getByRole("region", { name: "Table by variant" });

describe("variants side by side", () => {
  test("four algorithms on geo with 10 seeds, and a fifth without losing a run", async () => {
    const { page, complaints } = await studio.page();
    await view(page);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await finished(page, 40);
    expect(await table(page).locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^ ?newreno.*Mbit\/s.*s.*%.*ms.*10$/),
      expect.stringMatching(/^ ?cubic/),
      expect.stringMatching(/^ ?hybla/),
      expect.stringMatching(/^ ?bbr/),
    ]);
    await page.locator(".headline", { hasText: "goodput" }).waitFor();
    await page.getByRole("img", { name: /^Goodput: newreno .* ± .* Mbit\/s, cubic/ }).waitFor();
    const over = page.getByRole("region", { name: "Over time and by flow" });
    await over.getByRole("img", { name: /^Goodput over time: newreno up to .* Mbit\/s, cubic up to/ }).waitFor();
    const windows = over.getByRole("img", { name: /^Congestion window of newreno, seed 1: up to .* segments/ });
    expect(await windows.locator("path").count()).toBe(1);
    const lines = await windows.locator("path").first().getAttribute("d");
    await over.getByRole("combobox", { name: "Seed" }).selectOption("7");
    const others = over.getByRole("img", { name: /^Congestion window of newreno, seed 7: up to/ });
    expect(await others.locator("path").first().getAttribute("d")).not.toBe(lines);
    const before = await table(page).locator("tbody tr").nth(1).textContent();
    await page.getByRole("button", { name: "vegas", exact: true }).click();
    await page.getByText("40 of 50 runs").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await finished(page, 50);
    expect(await table(page).locator("tbody tr").nth(1).textContent()).toBe(before);
    await page.getByLabel("Metric").selectOption("Completion time");
    await page.getByRole("row", { name: /cubic 10 .* than newreno/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("cancelled, and resumed", async () => {
    const { page } = await studio.page();
    await view(page);
    await page.getByLabel("Seeds").fill("200");
    await page.getByLabel("Seeds").blur();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText(/^[1-9]\d* of 800 runs/).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const kept = Number.parseInt((await page.locator(".count").textContent()) ?? "", 10);
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(800);
    const seeds = Math.ceil(kept / 4) + 1;
    await page.getByLabel("Seeds").fill(String(seeds));
    await page.getByLabel("Seeds").blur();
    await page.getByRole("button", { name: "Resume" }).click();
    await finished(page, 4 * seeds);
  });

  test("a worker that is killed loses only its run", async () => {
    const { page } = await studio.page();
    await view(page);
    await page.getByLabel("Seeds").fill("100");
    await page.getByLabel("Seeds").blur();
    const before = page.workers().length;
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await expect.poll(() => page.workers().length).toBeGreaterThan(before);
    await page.getByText(/^[1-9]\d* of 400 runs/).waitFor();
    const worker = page.workers().at(-1);
    await worker?.evaluate(() => setTimeout(() => self.close(), 0)).catch(() => undefined);
    await finished(page, 400);
    await page.getByText(/1 repeated/).waitFor();
    await page.getByRole("row", { name: /cubic .* 100$/ }).waitFor();
  });

  test("a change that the scenario rejects is reported at its variant", async () => {
    const { page } = await studio.page();
    await view(page);
    await page.getByLabel("Value of defaults.tcp.congestion of bbr").fill("bbr9");
    await page.getByRole("alert").filter({ hasText: "bbr9" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Compare", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove variant bbr" }).click();
    await page.getByLabel("Vary").selectOption("Any key");
    await page.getByLabel("Key", { exact: true }).fill("links.1.loss");
    await page.getByLabel("Value", { exact: true }).fill("1e-3");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await finished(page, 40);
    await page.getByRole("row", { name: /loss 1e-3 .* 10$/ }).waitFor();
  });

  test("another scenario has the same variants, with the keys of its flows", async () => {
    const { page } = await studio.page();
    await view(page);
    await page.getByRole("link", { name: "Scenario" }).click();
    const link = '[[links]]\nbetween = ["a", "b"]\nrate = "5 Mbit/s"\ndelay = "300 ms"\nloss = 1e-3\n';
    await openToml(page, `duration = "40 s"\n${link}[[flows]]\nfrom = "a"\nto = "b"\ncongestion = "vegas"\n`);
    await view(page);
    await page.getByLabel("Value of flows.0.congestion of hybla").waitFor();
    await page.getByLabel("Seeds").fill("2");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await finished(page, 8);
    const rows = await table(page).locator("tbody tr td:nth-child(2)").allTextContents();
    expect(new Set(rows).size).toBe(4);
  });

  test("a scenario without randomness runs once, and the view states it", async () => {
    const { page } = await studio.page();
    const pair =
      'name = "pair"\nduration = "10 s"\n[[links]]\nbetween = ["a", "b"]\nrate = "10 Mbit/s"\ndelay = "20 ms"\n';
    await openToml(page, `${pair}queue = "1 bdp"\n[[flows]]\nfrom = "a"\nto = "b"\n`);
    await view(page);
    // BBR draws random numbers when it probes.
    await page.getByRole("button", { name: "bbr", pressed: true }).click();
    await page.getByText("Nothing in this scenario is random: each variant runs once.").waitFor();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await finished(page, 3);
    await page.getByText("Nothing is random there: each seed gives the same result.").waitFor();
  });

  test.each([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["on a phone", { viewport: { width: 360, height: 740 }, hasTouch: true }],
  ] as const)("axe finds no violations: %s", async (_, options) => {
    const { page } = await studio.page(options);
    await view(page);
    await page.getByLabel("Seeds").fill("3");
    await page.getByLabel("Seeds").blur();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await finished(page, 12);
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Report HTML" }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
  });
});
