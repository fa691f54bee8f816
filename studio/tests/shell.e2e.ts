import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Studio, violations } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

function ground(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
}

test.each(["light", "dark"] as const)(
  "clicks on the colours change them, and lead back to a system that is %s",
  async (colorScheme) => {
    const { page } = await studio.page({ colorScheme });
    const button = page.getByRole("button", { name: /^Colours: / });
    const seen = [await ground(page)];
    for (let click = 0; click < 3; click++) {
      await button.click();
      seen.push(await ground(page));
    }
    expect(seen[1]).not.toBe(seen[0]);
    expect(seen.slice(2)).toEqual([seen[0], seen[0]]);
    // Back at the colours of the system, the page follows it.
    await page.emulateMedia({ colorScheme: colorScheme === "light" ? "dark" : "light" });
    await expect.poll(() => ground(page)).toBe(seen[1]);
    await page.context().close();
  },
);

describe("the help", () => {
  test("has the version, the licence, keys, and where the documentation is", async () => {
    const { page, complaints } = await studio.page({ viewport: { width: 1440, height: 500 } });
    await page.getByRole("button", { name: "Help" }).click();
    const dialog = page.getByRole("dialog", { name: "Help" });
    await expect.poll(() => dialog.textContent()).toMatch(/lightlag \d+\.\d+\.\d+, MIT licence/);
    expect(await dialog.textContent()).toContain("Documentation: lightlag explain");
    expect(await dialog.evaluate((one) => one.scrollTop)).toBe(0);
    await dialog.getByText("Licence text").click();
    expect(await dialog.locator("pre").textContent()).toMatch(/^MIT License/);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Help");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("links to the documentation that the page was published with", async () => {
    const { page } = await studio.page({ viewport: { width: 390, height: 844 } });
    await page.evaluate(() => {
      document.querySelector('meta[name="lightlag-documentation"]')?.setAttribute("content", "../index.html");
    });
    // The help reads the address whenever it is opened.
    await page.getByRole("button", { name: "Help" }).click();
    const link = page.getByRole("dialog", { name: "Help" }).getByRole("link", { name: "Documentation" });
    await expect.poll(() => link.getAttribute("href")).toBe("../index.html");
    const { width } = (await page.getByRole("dialog", { name: "Help" }).boundingBox()) ?? { width: 999 };
    expect(width).toBeLessThanOrEqual(390);
    await page.context().close();
  });
});
