import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animation, GL, openToml, Studio } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open(GL);
});

afterAll(async () => {
  await studio.close();
});

const LONG = "observatory-with-a-very-long-name-in-the-far-north-of-the-island-group";
/** A scenario with names that a line could break: at hyphens, at spaces, and a long one anywhere. */
const NAMES = `name = "names"
duration = "5 s"
[[links]]
between = ["client-north-west", "gate hub-1"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "20 packets"
[[links]]
between = ["gate hub-1", "${LONG}"]
rate = "5 Mbit/s"
delay = "20 ms"
queue = "20 packets"
[[flows]]
from = "client-north-west"
to = "gate hub-1"
[[flows]]
from = "client-north-west"
to = "${LONG}"
`;
const NODES = ["client-north-west", "gate hub-1", LONG];
const WORDS = [...NODES, ...NODES.flatMap((from) => NODES.map((to) => `${from}->${to}`))];

/** Returns the elements in which a name is on more than one line, or is cut without "…" or without a title. */
function broken(page: Page, names: string[]): Promise<string[]> {
  return page.evaluate((words) => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const holder = node.parentElement;
      if (!holder?.checkVisibility() || holder.closest("option, script, style, datalist, .unseen")) {
        continue;
      }
      const text = node.nodeValue ?? "";
      for (const word of words.filter((one) => text.includes(one))) {
        const range = document.createRange();
        range.setStart(node, text.indexOf(word));
        range.setEnd(node, text.indexOf(word) + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) {
          found.push(`on ${lines.size} lines in ${holder.closest("[class]")?.className}: ${word}`);
        }
      }
      const whole = words.find((one) => text.trim() === one);
      const isCut = holder.scrollWidth > holder.clientWidth && getComputedStyle(holder).overflowX !== "visible";
      if (whole && isCut && (getComputedStyle(holder).textOverflow !== "ellipsis" || holder.title !== whole)) {
        found.push(`cut in ${holder.className}: ${whole}`);
      }
    }
    return found;
  }, names);
}

describe.each([390, 1440])("at a width of %i no name breaks", (width) => {
  const options = { viewport: { width, height: 900 } };

  test("in a run, its network and its packets", async () => {
    const { page } = await studio.page(options);
    await openToml(page, NAMES);
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.locator(".hash").waitFor();
    for (const details of await page.locator(".why summary").all()) {
      if ((await details.locator("..").getAttribute("open")) === null) {
        await details.click();
      }
    }
    await page.locator(".chart.cwnd summary").click();
    expect(await broken(page, WORDS)).toEqual([]);
    await animation(page, "Network");
    await page.locator(".moving-links td").first().waitFor();
    expect(await broken(page, WORDS)).toEqual([]);
    await animation(page, "Space-time");
    await page.getByText("Packets in view, as text").click();
    await page.locator(".moving-links li").first().waitFor();
    expect(await broken(page, WORDS)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(width);
    await page.context().close();
  });

  test("in the lists of a drawing and the items of the form", async () => {
    const { page } = await studio.page(options);
    await openToml(page, NAMES);
    expect(await broken(page, [...WORDS, `client-north-west – gate hub-1`])).toEqual([]);
    await page.getByRole("tab", { name: "Drawing" }).click();
    await page.getByText("as lists").click();
    await page.locator(".parts .choices button").first().waitFor();
    expect(await broken(page, WORDS)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.context().close();
  });

  test("in paths over satellites, which are complete", async () => {
    const { page } = await studio.page(options);
    await openToml(page, await readFile(new URL("../../scenarios/starlink-550.toml", import.meta.url), "utf8"));
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await animation(page, "Globe");
    const path = page.locator(".space-list .path").last();
    await expect.poll(() => path.textContent(), { timeout: 40_000 }).toMatch(/^London → .* → Singapore$/);
    const nodes = ((await path.textContent()) ?? "").split(" → ");
    expect(await broken(page, [...nodes, "London->Singapore", "London->New York"])).toEqual([]);
    const panel = await page.locator(".space-list").boundingBox();
    for (const name of await path.locator(".name").all()) {
      const box = await name.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((panel?.x ?? 0) + (panel?.width ?? 0));
    }
    await page.context().close();
  });
});

test("flows without computed paths are counted", async () => {
  const { page } = await studio.page();
  const toml = await readFile(new URL("../../scenarios/starlink-550.toml", import.meta.url), "utf8");
  const flow = (at: number) =>
    `\n[[flows]]\nname = "extra ${at}"\nfrom = "London"\nto = "New York"\nstart = "${50 + at} ms"\n`;
  await openToml(page, toml.replace("60 s", "1 s") + Array.from({ length: 30 }, (_, at) => flow(at)).join(""));
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await animation(page, "Globe");
  await page.getByText("… and 8 more flows.").waitFor({ timeout: 40_000 });
  await page.context().close();
});
