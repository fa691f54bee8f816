import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animation, GL, launch, openToml, PAIR, pageOf, Studio } from "./browser.ts";
import { focus, heard, listen, nameless, spoken } from "./hearing.ts";
import { Server } from "./server.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open(GL);
});

afterAll(async () => {
  await studio.close();
});

async function pair(): Promise<Page> {
  const { page } = await studio.page();
  await openToml(page, PAIR);
  await expect.poll(() => page.locator(".title").textContent()).toBe("pair");
  await page.locator(".standing:is(.good, .warn)").waitFor();
  return page;
}

async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".hash").waitFor();
  await expect.poll(() => page.locator(".charts canvas").count()).toBe(6);
}

async function preset(name: string): Promise<Page> {
  const { page } = await studio.page();
  await page.getByRole("button", { name: /^All \d+/ }).click();
  await page.locator(".card", { has: page.locator(`strong:text-is("${name}")`) }).click();
  await expect.poll(() => page.locator(".title").textContent()).toBe(name);
  await page.locator(".standing:is(.good, .warn)").waitFor();
  return page;
}

/** Returns the first wanted line that is not found after the lines before it; undefined if all are found in order. */
function missing(lines: string[], wanted: (string | RegExp)[]): string | RegExp | undefined {
  let at = 0;
  return wanted.find((want) => {
    const found = lines.findIndex(
      (line, index) => index >= at && (typeof want === "string" ? line === want : want.test(line)),
    );
    at = found + 1;
    return found < 0;
  });
}

/** Waits until the lines appear in this order in the accessibility tree, which is updated shortly after the page. */
async function expectInOrder(page: Page, wanted: (string | RegExp)[]): Promise<void> {
  await expect
    .poll(async () => {
      const lines = await spoken(page);
      const want = missing(lines, wanted);
      return { nameless: nameless(lines), ...(want ? { want, lines } : {}) };
    })
    .toEqual({ nameless: [] });
}

describe("a screen reader announces", () => {
  test("the scenario: landmarks, presets by name, fields with values in units", async () => {
    const { page } = await studio.page();
    await page.getByRole("slider").first().waitFor();
    await expectInOrder(page, [
      'link "Skip to content"',
      "banner",
      /^heading "geo" level 1/,
      'navigation "Views"',
      'link "Scenario"',
      'button "Save" collapsed',
      'main "Scenario"',
      'region "Presets"',
      /^button "geo What a geostationary satellite does to TCP.*" pressed/,
      /^button "leo .*" not pressed/,
      /^status/,
      /^button "Open file …" \(A scenario/,
      'button "Run"',
      'tab "Form" selected',
      /^textbox "Scenario in TOML"/,
      /^textbox "duration" = 120 s \(Maximum duration/,
    ]);
    const slider = page.getByRole("slider", { name: /^links\[0\]\.delay/ });
    expect(await slider.getAttribute("aria-valuetext")).toBe("1 ms");
  });

  test("the run: its controls, each chart with numbers, why it is slow, the result", async () => {
    const page = await pair();
    await run(page);
    await page.locator(".why .headline").waitFor();
    await expectInOrder(page, [
      'main "Run"',
      /^button "Run"/,
      /^button "Next loss" unavailable/,
      /^combobox "Speed" = maximum speed/,
      /^progressbar "Progress" = 20/,
      'region "Animations"',
      'group "Animation"',
      'button "Network" pressed',
      'region "Why is it slow?"',
      "text a->b",
      /^text reached /,
      /^group "Charts over time\. Plus and minus zoom/,
      /^heading "cwnd and ssthresh segments" level 2/,
      /^image "cwnd and ssthresh: cwnd [\d.,]+ to [\d.,]+ segments, [\d.,]+ at the end/,
      /^image "RTT and SRTT: .* ms, /,
      /^image "Goodput: goodput .* Mbit\/s, /,
      /^image "Queues: .* packets, /,
      /^image "In flight: /,
      /^image "States of senders: a->b repaired losses \d+ times?, for /,
      'complementary "Flows, links and the result"',
      'region "Result"',
      /^text [0-9a-f]{32}$/,
      'columnheader "Goodput"',
      'checkbox "a->b" checked',
      /^cell "[\d.]+ Mbit\/s"/,
    ]);
    await page.locator(".chart.cwnd summary").click();
    await expectInOrder(page, ['columnheader "minimum"', 'columnheader "at the end"', 'rowheader "cwnd"', /^cell "/]);
  });

  test("the comparison: variants, progress, conclusion, table, means by metric", async () => {
    const page = await pair();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("Compared").waitFor();
    await expectInOrder(page, [
      'main "Compare"',
      'region "Variants"',
      'button "newreno" pressed',
      /^textbox "Name of variant 1" = newreno/,
      'button "Remove variant newreno"',
      /^button "Compared" unavailable/,
      /^progressbar "13 of 13 runs"/,
      'region "Conclusion"',
      'region "Results"',
      'table "Means by variant with their 95 % intervals"',
      'rowheader "newreno"',
      /^cell "/,
      /^image "Goodput: newreno .*, cubic .*bbr/,
    ]);
  });

  test("the network and the diagram of packets: their current content", async () => {
    const page = await pair();
    await run(page);
    const network = page.locator(".moving canvas");
    await expect
      .poll(() => network.getAttribute("aria-label"))
      .toMatch(/^The network: 2 nodes, 2 link directions, 1 flow\. At [\d.]+ s (the longest|no packet)/);
    await animation(page, "Space-time");
    await page.getByText(/packets, \d+ retransmitted/).waitFor();
    await expectInOrder(page, [
      'region "Space-time diagram"',
      /^combobox "Flow" = a->b/,
      'button "Zoom in"',
      /^status/,
      /^application "Time runs to the right.*\((\d|,)+ packets, \d+ retransmitted, \d+ dropped/,
    ]);
  });

  test.each([
    ["iridium", "Globe", /^[\d.]+ s.* 66 satellites, [\d,]+ links between them are up; \d+ of \d+ flows have a path/],
    ["swarm", "Swarm", /^[\d.]+ s 60 nodes with radios; the paths of \d+ of 30 flows are known/],
  ])("%s in space: a sentence that is kept up to date", { timeout: 180_000 }, async (name, picture, sentence) => {
    const page = await preset(name);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await animation(page, picture);
    const stage = page.locator(".space .stage");
    const words = () =>
      stage.evaluate((at) =>
        (at.getAttribute("aria-describedby") ?? "")
          .split(" ")
          .map((id) => document.getElementById(id)?.textContent)
          .join(" "),
      );
    await expect.poll(words, { timeout: 60_000 }).toMatch(sentence);
    await page.getByLabel("Time", { exact: true }).fill("5");
    await expect.poll(words, { timeout: 60_000 }).toMatch(/^(4\.9|5\.0|5\.1)/);
    await expectInOrder(page, []);
  });
});

describe("live regions announce", () => {
  test("once that a run starts and how it ended, each time", async () => {
    const page = await pair();
    await listen(page);
    await run(page);
    const ended = /^The run is over after 20 s\. a->b reached .*\.$/;
    const endings = async () => (await heard(page)).filter((said) => ended.test(said));
    await expect.poll(async () => (await endings()).length).toBe(1);
    await page.locator(".why .headline").waitFor();
    const [ending] = await endings();
    await page.getByRole("button", { name: "Restart" }).click();
    await expect.poll(endings).toEqual([ending, ending]);
    expect((await heard(page)).filter((said) => said.includes("reached"))).toHaveLength(2);
  });

  test("where the run pauses for a loss", async () => {
    const page = await pair();
    await run(page);
    await page.locator(".speed select").selectOption("0.1");
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await listen(page);
    await page.getByRole("button", { name: "Next loss" }).click();
    await expect
      .poll(() => heard(page))
      .toEqual([expect.stringMatching(/^Paused at [\d.]+ s: a packet was dropped\.$/)]);
    expect(await focus(page)).toBe("button Next loss");
  });

  test("once the conclusion of a comparison, when all runs have finished", async () => {
    const page = await pair();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Compare", exact: true }).waitFor();
    await listen(page);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("Compared").waitFor();
    await expect.poll(() => heard(page)).toEqual([expect.stringMatching(/^All 13 runs have finished\. \w+/)]);
  });

  test("immediately why a scenario does not run", async () => {
    const page = await pair();
    await openToml(page, PAIR.replace("10 Mbit/s", "10"));
    await page.locator(".standing.bad").waitFor();
    await listen(page);
    await page.getByRole("link", { name: "Run" }).click();
    await expect.poll(() => heard(page)).toEqual([expect.stringContaining("links[0].rate")]);
  });
});

describe("the focus", () => {
  test("moves to the content when a view opens, and stays on a used control", async () => {
    const page = await pair();
    await page.getByRole("button", { name: "Run", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".hash").waitFor();
    expect(await focus(page)).toMatch(/^main Run/);
    await page.getByRole("button", { name: "Restart" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".hash").waitFor({ state: "detached" });
    await page.locator(".hash").waitFor();
    expect(await focus(page)).toMatch(/Restart$/);
    await page.goBack();
    await page.getByRole("tab", { name: "Form" }).waitFor();
    expect(await focus(page)).toMatch(/^main Scenario/);
  });

  test("moves into the menu and the dialog, and back to their buttons", async () => {
    const page = await pair();
    await page.getByRole("button", { name: "Save", exact: true }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => focus(page)).toMatch(/^dialog Save/);
    await page.keyboard.press("Tab");
    expect(await focus(page)).toMatch(/^button ScenarioTOML/);
    const saved = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    await saved;
    await page.getByText("pair.toml is saved.").waitFor();
    expect(await focus(page)).toMatch(/^button ScenarioTOML/);
    await page.keyboard.press("Escape");
    expect(await focus(page)).toBe("button Save");
    await page.getByRole("button", { name: "Share", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Share pair" }).waitFor();
    expect(await focus(page)).toBe("input");
    await page.keyboard.press("Escape");
    expect(await focus(page)).toBe("button Share");
  });

  test("stays near when the focused element is removed", async () => {
    const page = await pair();
    await page.getByRole("link", { name: "Compare" }).click();
    const last = page.getByRole("button", { name: "Remove variant bbr" });
    await last.focus();
    await page.keyboard.press("Enter");
    await last.waitFor({ state: "detached" });
    expect(await focus(page)).not.toBe("body");
    const inside = await page.evaluate(() => document.activeElement?.closest(".variants") !== null);
    expect(inside).toBe(true);
  });
});

test("this machine: startable tasks, tasks and results, and once how a run ended", async () => {
  const server = await Server.start(["pair.toml"], (folder) => writeFile(join(folder, "pair.toml"), PAIR));
  const browser = await launch();
  try {
    const { page } = await pageOf(browser);
    await page.goto(server.address);
    await page.locator(".standing:is(.good, .warn, .bad)").waitFor();
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByRole("button", { name: "Run on this machine" }).waitFor();
    expect(await focus(page)).toMatch(/^main This machine/);
    await listen(page);
    await page.getByRole("button", { name: "Run on this machine" }).click();
    await page.locator(".task.done").waitFor();
    await expect.poll(async () => (await heard(page)).filter((said) => said === "Run pair: done.").length).toBe(1);
    await page.getByRole("table", { name: "Results" }).locator("tbody tr").first().waitFor();
    await expectInOrder(page, [
      'main "This machine"',
      'radio "Run" checked',
      /^textbox "Seeds"/,
      'button "Run on this machine"',
      'heading "Tasks" level 2',
      'article "Run pair"',
      'button "Remove Run pair from the list"',
      'progressbar "Progress of Run pair" = 1',
      'button "Report of pair"',
      'table "Results"',
      /^rowheader "/,
    ]);
    await page.getByRole("button", { name: "Report of pair" }).first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Report of pair" }).waitFor();
    expect(await focus(page)).toBe("button Close");
    await page.keyboard.press("Enter");
    expect(await focus(page)).toBe("button Report of pair");
  } finally {
    await browser.close();
    await server.forget();
  }
});
