import { afterAll, beforeAll, expect, test } from "vitest";
import { Studio } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});
afterAll(async () => {
  await studio.close();
});

test("a page that was opened once works without a network", async () => {
  const { page, complaints } = await studio.page();
  await page.evaluate(async () => {
    const { active, installing, waiting } = await navigator.serviceWorker.ready;
    const worker = active ?? waiting ?? installing;
    await new Promise<void>((ready) => {
      const look = () => worker?.state === "activated" && ready();
      worker?.addEventListener("statechange", look);
      look();
    });
  });
  await page.context().setOffline(true);
  await page.reload();
  await page.locator(".standing:is(.good, .warn)").waitFor();
  expect(await page.locator("h1.title").textContent()).toBe("geo");
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("no resource is loaded from elsewhere", async () => {
  const { page } = await studio.page();
  const addresses = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  expect(addresses.length).toBeGreaterThan(3);
  expect(addresses.filter((name) => !name.startsWith(studio.address) && !name.startsWith("blob:"))).toEqual([]);
  await page.context().close();
});
