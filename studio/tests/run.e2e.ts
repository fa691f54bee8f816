import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingers, openToml, PAIR, replacing, Studio, violations } from "./browser.ts";

const ROOT = new URL("../../", import.meta.url);
const HASHES = new URL("dist/studio/hashes.json", ROOT);
const native: Record<string, string> = existsSync(HASHES) ? JSON.parse(readFileSync(HASHES, "utf8")).hashes : {};
const names = readdirSync(new URL("scenarios/", ROOT))
  .filter((name) => name.endsWith(".toml"))
  .map((name) => name.replace(".toml", ""));

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

const BOTH_WAYS = `${PAIR}[[flows]]
from = "b"
to = "a"
`;

/** Opens the run view of a scenario. */
async function go(page: Page, toml?: string): Promise<void> {
  if (toml) {
    await openToml(page, toml);
    await page.locator(".standing:is(.good, .warn)").waitFor();
  }
  await page.getByRole("button", { name: "Run", exact: true }).click();
}

const seconds = async (page: Page) => Number((await page.locator(".time .mono").textContent())?.split("/")[0]);

/** Opens a page whose run of two flows is paused at its start. */
async function paused(page: Page): Promise<void> {
  await go(page, BOTH_WAYS);
  await page.locator(".hash").waitFor();
  await page.locator(".speed select").selectOption("0.1");
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor();
}

describe("a run", () => {
  test.each(names)("%s runs at full speed and shows its hash", { timeout: 180_000 }, async (name) => {
    const { page, complaints } = await studio.page();
    await page.getByRole("button", { name: /^All \d+/ }).click();
    await page.locator(".card", { has: page.locator(`strong:text-is("${name}")`) }).click();
    await expect.poll(() => page.locator(".title").textContent()).toBe(name);
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await go(page);
    await page.locator(".hash").waitFor({ timeout: 170_000 });
    expect(await page.locator(".hash").textContent()).toMatch(/^[0-9a-f]{32}$/);
    if (native[name]) {
      expect(await page.locator(".hash").textContent()).toBe(native[name]);
      await page.getByText(/identical to native lightlag \d/).waitFor();
    }
    await page.locator(".why .headline").waitFor();
    await expect.poll(() => page.locator(".charts canvas").count()).toBe(6);
    expect(complaints.filter((text) => !text.includes("GPU stall"))).toEqual([]);
    await page.context().close();
  });

  test("it runs at a selected speed, pauses, continues to the next loss, and restarts", async () => {
    const { page, complaints } = await studio.page();
    await paused(page);
    const first = await seconds(page);
    expect(first).toBeLessThan(2);
    await page.keyboard.press("n");
    await page.getByText("lost: the queue was full").first().waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor();
    const loss = await seconds(page);
    expect(loss).toBeGreaterThan(first);
    expect(loss).toBeLessThan(20);
    const lost = await page.locator(".side tbody tr td:last-child").first().textContent();
    expect(Number(lost)).toBeGreaterThan(0);
    await page.locator(".speed select").selectOption("Infinity");
    await page.getByRole("button", { name: "Play" }).click();
    await page.locator(".hash").waitFor();
    const hash = await page.locator(".hash").textContent();
    await page.locator("main").focus();
    await replacing(page, ".hash", () => page.keyboard.press("r"));
    await page.locator(".hash").waitFor();
    expect(await page.locator(".hash").textContent()).toBe(hash);
    await page.keyboard.press("-");
    expect(await page.locator(".speed select").inputValue()).toBe("1000");
    expect(complaints).toEqual([]);
  });

  test("it advances step by step, and announces the records", async () => {
    const { page, complaints } = await studio.page();
    await paused(page);
    const happened = page.locator(".happened");
    const steps = page.getByRole("button", { name: "Step", exact: true });
    const before = await seconds(page);
    for (let step = 0; step < 8; step++) {
      await steps.press("Enter");
      await page.getByRole("button", { name: "Play" }).waitFor();
      await expect.poll(() => happened.textContent()).toMatch(/(a->b|b->a|no packet waits).*\.$/);
      expect(await steps.evaluate((button) => document.activeElement === button)).toBe(true);
    }
    await expect.poll(() => seconds(page)).toBeGreaterThan(before);
    const after = await seconds(page);
    for (let step = 0; step < 8; step++) {
      await page.keyboard.press(".");
      await page.getByRole("button", { name: "Play" }).waitFor();
    }
    await expect.poll(() => seconds(page)).toBeGreaterThan(after);
    await page.locator(".speed select").selectOption("Infinity");
    await page.getByRole("button", { name: "Play" }).click();
    await page.locator(".hash").waitFor();
    const hash = await page.locator(".hash").textContent();
    expect(await happened.textContent()).toBe("");
    // A finished run restarts with its first step, and steps do not change its result.
    await steps.click();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await expect.poll(() => happened.textContent()).not.toBe("");
    expect(await seconds(page)).toBeLessThan(0.01);
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => page.locator(".hash").textContent()).toBe(hash);
    expect(complaints).toEqual([]);
  });

  test("another seed gives another run, which is not compared with the native one", async () => {
    const { page } = await studio.page();
    await go(page);
    await page.locator(".hash").waitFor();
    const hash = await page.locator(".hash").textContent();
    await page.getByLabel("Seed").fill("7");
    await page.getByLabel("Seed").press("Enter");
    await expect.poll(() => page.locator(".outcome dd").first().textContent()).toBe("7");
    expect(await page.locator(".hash").textContent()).not.toBe(hash);
    expect(await page.getByText("identical to native").count()).toBe(0);
  });

  test("charts zoom together, by keys and by drag", async () => {
    const { page } = await studio.page();
    await go(page);
    await page.locator(".hash").waitFor();
    const charts = page.getByRole("group", { name: /^Charts over time/ });
    await charts.focus();
    await page.keyboard.press("+");
    await page.getByRole("button", { name: "Show the entire run" }).waitFor();
    await expect.poll(() => page.locator(".zoomed .mono").textContent()).toMatch(/^3\.147 to 9\.441 s$/);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => page.locator(".zoomed .mono").textContent()).toMatch(/^4\.40\d to 10\.7 s$/);
    await page.keyboard.press("0");
    await page.getByText("Drag to zoom").waitFor();
    const box = await page.locator(".chart.rtt .u-over").boundingBox();
    if (!box) {
      throw new Error("no chart");
    }
    await page.mouse.move(box.x + box.width / 4, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.locator(".zoomed .mono").textContent()).toMatch(/^3\.1\d* to 6\.\d* s$/);
    await page.locator(".chart.queue .u-over").dblclick();
    await page.getByText("Drag to zoom").waitFor();
  });

  test("two fingers zoom and move charts, and one scrolls the page", async () => {
    const { page } = await studio.page({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await go(page);
    await page.locator(".hash").waitFor();
    const over = page.locator(".chart.rtt .u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (!box) {
      throw new Error("no chart");
    }
    const at = (part: number): [number, number] => [box.x + part * box.width, box.y + box.height / 2];
    const touch = await fingers(page);
    const scrolled = () => page.evaluate(() => scrollY);
    const before = await scrolled();
    // 12.59 s: from 2/5 and 3/5 to 1/5 and 4/5, so a third of it is left about the same middle.
    await touch("Start", at(0.4));
    await touch("Start", at(0.4), at(0.6));
    for (const step of [1, 2, 3, 4]) {
      await touch("Move", at(0.4 - 0.05 * step), at(0.6 + 0.05 * step));
    }
    await touch("End");
    const span = async () => (await page.locator(".zoomed .mono").textContent())?.match(/[\d.]+/g)?.map(Number) ?? [];
    await expect.poll(span).toEqual([expect.closeTo(4.196, 1), expect.closeTo(8.392, 1)]);
    // Both to the right, by a fifth of what is shown.
    await touch("Start", at(0.2), at(0.4));
    await touch("Move", at(0.3), at(0.5));
    await touch("Move", at(0.4), at(0.6));
    await touch("End");
    await expect.poll(span).toEqual([expect.closeTo(3.357, 1), expect.closeTo(7.553, 1)]);
    expect(await scrolled()).toBe(before);
    const [x, y] = at(0.5);
    await touch("Start", [x, y]);
    for (const step of [1, 2, 3, 4, 5]) {
      await touch("Move", [x, y - 30 * step]);
    }
    await touch("End");
    await expect.poll(scrolled).toBeGreaterThan(before + 50);
    expect(await span()).toEqual([expect.closeTo(3.357, 1), expect.closeTo(7.553, 1)]);
    await over.scrollIntoViewIfNeeded();
    const now = await over.boundingBox();
    const middle: [number, number] = [(now?.x ?? 0) + 100, (now?.y ?? 0) + 40];
    for (const kind of ["Start", "End", "Start", "End"] as const) {
      await touch(kind, ...(kind === "Start" ? [middle] : []));
    }
    await page.getByText("Two fingers zoom and move").waitFor();
  });

  test.each([360, 1280, 3840])("names of flows are complete at a width of %i", async (width) => {
    const { page } = await studio.page({ viewport: { width, height: 900 } });
    await page.evaluate(() => {
      const { prototype } = CanvasRenderingContext2D;
      const { fillText } = prototype;
      const written: [string, number][] = [];
      Object.assign(globalThis, { written });
      prototype.fillText = function (...given: Parameters<typeof fillText>) {
        written.push([given[0], Number.parseFloat(/[\d.]+(?=px)/.exec(this.font)?.[0] ?? "0")]);
        fillText.apply(this, given);
      };
    });
    await go(page, BOTH_WAYS.replaceAll('"b"', '"mars-relay-2"'));
    await page.locator(".hash").waitFor();
    await page.locator(".chart.states").scrollIntoViewIfNeeded();
    const sizes = () =>
      page.evaluate(() => {
        const { written } = globalThis as unknown as { written: [string, number][] };
        return written.filter(([text]) => text === "mars-relay-2->a").map(([, size]) => size / devicePixelRatio);
      });
    await expect.poll(sizes).toContain(11);
    const cut = await page
      .locator(".side .name")
      .evaluateAll((names) => names.filter((name) => name.scrollWidth > name.clientWidth).length);
    expect(cut).toBe(0);
    await page.context().close();
  });

  test.each([390, 1440])("the focused element is not covered by the header, at a width of %i", async (width) => {
    const { page } = await studio.page({ viewport: { width, height: 700 } });
    await go(page, BOTH_WAYS);
    await page.locator(".hash").waitFor();
    await page.locator(".chart.states summary").waitFor();
    await page.locator(".chart.states summary").focus();
    for (let step = 0; step < 5; step++) {
      await page.keyboard.press("Shift+Tab");
      const covered = await page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        const { top } = at.getBoundingClientRect();
        const fixed = [...document.querySelectorAll(".top, .controls")].filter(
          (one) => getComputedStyle(one).position === "sticky" && !one.contains(at),
        );
        return (
          fixed.some((one) => one.getBoundingClientRect().bottom > Math.max(top, 0) + 1) &&
          `${at.outerHTML.slice(0, 60)} ${top}`
        );
      });
      expect(covered).toBe(false);
    }
    await page.context().close();
  });

  test("flows are selected, and values are listed below the chart", async () => {
    const { page } = await studio.page();
    await go(page, BOTH_WAYS);
    await page.locator(".hash").waitFor();
    await page.getByRole("checkbox", { name: "b->a" }).first().uncheck();
    await page.getByRole("heading", { name: /^cwnd and ssthresh/ }).waitFor();
    await page.locator(".chart.cwnd summary").click();
    const cells = await page.locator(".chart.cwnd tbody tr").first().locator("td").allTextContents();
    expect(cells.map(Number).every((value) => value > 0)).toBe(true);
    expect(await page.locator(".chart.cwnd .plot").getAttribute("aria-label")).toMatch(/cwnd \d.* segments/);
  });

  test("a killed worker gives one clear error, and the run can be restarted", async () => {
    const { page } = await studio.page();
    await paused(page);
    for (const worker of page.workers()) {
      await worker.evaluate(() => setTimeout(() => self.close(), 0)).catch(() => undefined);
    }
    await page.getByText(/the worker of the run ended.*start the run again/).waitFor();
    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  test("a scenario with an error does not run, and the view shows the reason", async () => {
    const { page } = await studio.page();
    await openToml(page, BOTH_WAYS.replace("10 Mbit/s", "10"));
    await page.locator(".standing.bad").waitFor();
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByRole("alert").getByText("links[0].rate").waitFor();
  });

  test.each([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["on a phone", { viewport: { width: 360, height: 740 }, hasTouch: true }],
  ] as const)("axe finds no violations: %s", async (_, options) => {
    const { page } = await studio.page(options);
    await go(page, BOTH_WAYS);
    await page.locator(".hash").waitFor();
    await expect.poll(() => page.locator(".charts canvas").count()).toBe(6);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      page.viewportSize()?.width ?? 0,
    );
  });
});
