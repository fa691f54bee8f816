/** The page under `lightlag studio`: the real server, the native engine, and Chromium. */

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, pageOf, replacing, Studio, text, violations } from "./browser.ts";
import { Server } from "./server.ts";

const GEO = fileURLToPath(new URL("../../scenarios/geo.toml", import.meta.url));
const SHOTS = process.env.SHOTS;
const LINK = `[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "1 bdp"
`;
const ENDLESS = `name = "endless"
duration = "480 h"
record = { trace = "off", queue = "off", drops = false }
${LINK.replace("10 Mbit/s", "1 Gbit/s")}[[flows]]
from = "a"
to = "b"
`;
const STUDY = `scenarios = ["short.toml"]
congestion = ["cubic", "newreno"]
replications = 2
[vary]
"links.0.loss" = [0.001, 0.01]
`;
const SHORT = `name = "short"
duration = "2 s"
${LINK}[[flows]]
from = "a"
to = "b"
`;
const TRACED = `name = "traced"
duration = "5 s"
${LINK}trace = { file = "rates.csv" }
[[flows]]
from = "a"
to = "b"
`;

let browser: Browser;
let server: Server;

async function prepared(folder: string): Promise<void> {
  await mkdir(join(folder, "results"));
  await writeFile(join(folder, "short.toml"), SHORT);
  await writeFile(join(folder, "study.toml"), STUDY);
  await writeFile(join(folder, "grid.toml"), STUDY.replace("[0.001, 0.01]", "[0.0, 0.02]"));
  await writeFile(join(folder, "results", "long.toml"), STUDY.replace("short.toml", "endless.toml"));
  await writeFile(join(folder, "results", "endless.toml"), ENDLESS);
  await writeFile(join(folder, "results", "rates.csv"), "time_s,rate_bps\n0,5e6\n2,1e6\n");
  await writeFile(join(folder, "results", "traced.toml"), TRACED);
  await writeFile(join(folder, "geo.toml"), await readFile(GEO));
  await Server.lightlag(folder, "study", "run", "study.toml");
}

beforeAll(async () => {
  browser = await launch();
  server = await Server.start(["geo.toml"], prepared);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await server.forget();
});

/** Opens a page that is connected to the server. */
async function opened(options: Parameters<typeof pageOf>[1] = {}, of = server) {
  const { page, complaints } = await pageOf(browser, options);
  await page.goto(of.address);
  await page.locator(".standing:is(.good, .warn, .bad)").waitFor();
  return { page, complaints };
}

async function native(options: Parameters<typeof pageOf>[1] = {}, of = server) {
  const found = await opened(options, of);
  await found.page.getByRole("link", { name: "This machine" }).click();
  await found.page.getByRole("heading", { name: "Results" }).waitFor();
  return found;
}

function row(page: Page, name: string): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
}

function card(page: Page, name: string): Locator {
  return page.getByRole("article", { name });
}

async function shot(page: Page, name: string): Promise<void> {
  if (SHOTS) {
    await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }
}

/** Runs the unchanged scenario, and returns the hash of its result. */
async function run(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Run on this machine" }).click();
  const hash = page.locator(".task").first().locator(".hash");
  await hash.waitFor();
  return (await hash.textContent()) ?? "";
}

/** Runs a comparison, and returns the hashes of the saved runs. */
async function comparedRuns(page: Page): Promise<string[]> {
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.getByText("12 of 12 runs", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Runs CSV" }).click(),
  ]);
  const [head = "", ...rows] = (await readFile(await file.path(), "utf8")).trim().split("\n");
  await page.keyboard.press("Escape");
  expect(head).toMatch(/result_hash$/);
  return rows.map((row) => row.split(",").at(-1) ?? "");
}

async function runInView(page: Page): Promise<string> {
  await page.getByRole("link", { name: "Run", exact: true }).click();
  const hash = page.locator("section.outcome .hash");
  await hash.waitFor();
  return (await hash.textContent()) ?? "";
}

describe("a page without a token", () => {
  test("shows and loads nothing of this machine", async () => {
    const studio = await Studio.open();
    const { page } = await studio.page();
    expect(await page.getByRole("link", { name: "This machine" }).count()).toBe(0);
    expect(await page.getByLabel("Run on").count()).toBe(0);
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    expect(loaded.filter((name) => /\/(start|machine|switch)-|\/api\//.test(name))).toEqual([]);
    await studio.close();
  });

  test("states that the address is needed when the token is wrong, and reconnects automatically", async () => {
    const { page } = await pageOf(browser);
    await page.goto(server.address.replace(/#token=.*/, "?view=scenario#token=wrong"));
    await page.getByRole("alert").getByText("open the address that lightlag studio printed").waitFor();
    await page.locator(".standing.good, .standing.warn").waitFor();
    expect(await page.getByRole("link", { name: "This machine" }).count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.context().close();
  });
});

describe("the page of this machine", () => {
  test("opens FILE, removes the token from the address, and works after a reload", async () => {
    const { page, complaints } = await opened();
    expect(page.url()).not.toContain("token");
    expect(await text(page)).toBe(await readFile(GEO, "utf8"));
    await page.reload();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    expect(await page.getByRole("link", { name: "This machine" }).count()).toBe(1);
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistrations().then((all) => all.length))).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("opens a shared scenario from the same address", async () => {
    const { page } = await opened();
    const fragment = await page.evaluate(async () => {
      const bytes = new TextEncoder().encode(JSON.stringify({ toml: 'name = "shared"\n' }));
      const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
      const letters = String.fromCharCode(...new Uint8Array(await new Response(packed).arrayBuffer()));
      return `#a.${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
    });
    const other = await pageOf(browser);
    await other.page.goto(server.address.replace("#", `${fragment}&`));
    // The link runs; this scenario cannot.
    await other.page.getByRole("alert").first().waitFor();
    await other.page.getByRole("link", { name: "Scenario" }).click();
    await expect.poll(() => text(other.page)).toContain('name = "shared"');
    expect(other.page.url()).toContain(fragment);
    expect(other.page.url()).not.toContain("token");
    expect(await other.page.getByRole("link", { name: "This machine" }).count()).toBe(1);
    await other.page.context().close();
    await page.context().close();
  });

  test("runs natively with the hash of the page, and stores the results", async () => {
    const { page, complaints } = await native();
    await shot(page, "native-start");
    const hash = await run(page);
    expect(hash).toMatch(/^[0-9a-f]{16,}$/);
    await expect.poll(() => card(page, "Run geo").getByRole("status").textContent()).toBe("done");
    await row(page, "geo").waitFor();
    expect(await runInView(page)).toBe(hash);
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByText("the same hash as the run in this page").waitFor();
    expect(await readdir(join(server.folder, "results", "geo"))).toContain("run.json");
    await shot(page, "native-run");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("runs several seeds, each into a separate directory", async () => {
    const { page } = await native();
    await page.getByLabel("Seeds", { exact: true }).fill("3-x");
    await page.getByText('"3-x" is not a seed').waitFor();
    expect(await page.getByRole("button", { name: "Run on this machine" }).isDisabled()).toBe(true);
    await page.getByLabel("Seeds", { exact: true }).fill("3-5");
    await page.getByLabel("Parallel runs").fill("2");
    await page.getByRole("button", { name: "Run on this machine" }).click();
    await expect.poll(() => card(page, "Run geo").locator(".hash").count(), { timeout: 30_000 }).toBe(3);
    const hashes = await card(page, "Run geo").locator(".hash").allTextContents();
    expect(new Set(hashes).size).toBe(3);
    await row(page, "geo-seed4").waitFor();
    await page.context().close();
  });

  test("opens a report in a frame without an origin", async () => {
    const { page, complaints } = await native();
    await run(page);
    await page
      .getByRole("button", { name: /^Report of geo/ })
      .first()
      .press("Enter");
    const frame = page.frameLocator("dialog iframe");
    await frame.getByRole("heading").first().waitFor();
    expect(await page.locator("dialog iframe").getAttribute("sandbox")).toBe("allow-scripts");
    await expect.poll(() => frame.locator("svg, canvas").count()).toBeGreaterThan(0);
    await shot(page, "native-report");
    await page.getByRole("button", { name: "Close" }).focus();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog iframe").count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("opens the scenario of a run, which gives the same hash again", async () => {
    const { page } = await native();
    const hash = await run(page);
    await page
      .getByRole("button", { name: /^Scenario of geo/ })
      .first()
      .click();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await expect.poll(() => text(page)).not.toBe(await readFile(GEO, "utf8"));
    expect(await runInView(page)).toBe(hash);
    await page.context().close();
  });

  test("opens a scenario in the directories with its files", async () => {
    const { page } = await native();
    await page.getByRole("button", { name: "Scenario of traced.toml" }).click();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.locator(".chip").getByText("rates.csv").waitFor();
    await page.getByRole("link", { name: "This machine" }).click();
    const hash = await run(page);
    expect(await runInView(page)).toBe(hash);
    // The run stores its file, and returns it.
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByRole("button", { name: "Scenario of traced", exact: true }).first().click();
    await page.locator(".chip").getByText("rates.csv").waitFor();
    expect(await runInView(page)).toBe(hash);
    await page.context().close();
  });

  test("shows the newest list of results, even if responses are reordered", async () => {
    const { page } = await opened();
    let release = () => {};
    const held = new Promise<void>((settle) => {
      release = settle;
    });
    let count = 0;
    await page.route("**/api/results", async (route) => {
      count++;
      if (count > 1) {
        return route.continue();
      }
      const response = await route.fetch();
      await held;
      return route.fulfill({ response });
    });
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByLabel("Duration").fill("7 s");
    await page.getByRole("button", { name: "Run on this machine" }).click();
    const card = page.locator(".task.done");
    await card.waitFor();
    const name = (await card.locator(".written strong").textContent()) ?? "";
    const row = page.getByRole("table", { name: "Results" }).getByRole("rowheader", { name, exact: true });
    await row.waitFor();
    const late = page.waitForResponse("**/api/results");
    release();
    await (await late).finished();
    await page.evaluate(() => new Promise((settle) => requestAnimationFrame(settle)));
    expect(await row.count()).toBe(1);
    await page.context().close();
  });

  test("filters and sorts the table", async () => {
    const { page } = await native();
    await row(page, "traced.toml").waitFor();
    await page.getByLabel("Filter").fill("traced toml");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("Filter").fill("");
    await page.getByLabel("Kind").selectOption("scenario");
    const name = page.getByRole("columnheader", { name: "Name" });
    await name.getByRole("button").press("Enter");
    expect(await name.getAttribute("aria-sort")).toBe("ascending");
    const up = await page.locator("tbody th").allTextContents();
    await name.getByRole("button").press("Enter");
    expect(await name.getAttribute("aria-sort")).toBe("descending");
    expect(await page.locator("tbody th").allTextContents()).toEqual([...up].reverse());
    expect(up).toContain("endless.toml");
    await page.context().close();
  });

  test("compares algorithms, and opens the report", async () => {
    const { page, complaints } = await native();
    await page.getByLabel("Compare algorithms").check();
    for (const name of ["hybla", "bbr"]) {
      await page.getByRole("checkbox", { name, exact: true }).uncheck();
    }
    await page.getByLabel("Seeds per algorithm").fill("2");
    await page.getByRole("button", { name: "Compare on this machine" }).click();
    const comparison = card(page, "Comparison geo");
    await expect.poll(() => comparison.getByRole("status").textContent(), { timeout: 50_000 }).toBe("done");
    expect(await comparison.getByText("4 of 4 runs").count()).toBe(1);
    await shot(page, "native-compare");
    await comparison.getByRole("button", { name: /^Report of/ }).click();
    await page.frameLocator("dialog iframe").getByText("newreno").first().waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("cancels a run, whose records are stored", async () => {
    const { page } = await native();
    await page.getByRole("button", { name: "Scenario of endless.toml" }).click();
    await expect.poll(() => page.locator(".title").textContent()).toBe("endless");
    await page.getByRole("link", { name: "This machine" }).click();
    await page.getByRole("button", { name: "Run on this machine" }).click();
    const task = card(page, "Run endless");
    await expect.poll(() => task.getByRole("status").textContent()).toBe("running");
    await task.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => task.getByRole("status").textContent()).toBe("cancelled");
    expect(await task.getByText("interrupted").count()).toBe(1);
    await expect.poll(() => row(page, "endless").textContent()).toContain("interrupted");
    await page.context().close();
  });

  test("shows an error of the server in the task", async () => {
    const { page } = await native();
    await page.getByLabel("Duration").fill("soon");
    await page.getByRole("button", { name: "Run on this machine" }).click();
    await expect.poll(() => card(page, "Run geo").getByRole("status").textContent()).toBe("failed");
    expect(await card(page, "Run geo").getByRole("alert").textContent()).toContain("soon");
    await page.context().close();
  });

  test("watches a study", async () => {
    const { page } = await native();
    await page.getByRole("button", { name: "Watch study.toml" }).click();
    const study = card(page, "Study short");
    await study.getByText("8 of 8 runs").waitFor();
    await study.getByText("Cells").click();
    await expect.poll(() => study.locator("tbody tr").count()).toBe(4);
    await page.context().close();
  });

  test("runs a study in the directories, and opens its report", async () => {
    const { page, complaints } = await native();
    await page.getByRole("button", { name: "Run grid.toml" }).click();
    const study = card(page, "Study grid");
    await expect.poll(() => study.locator(".standing-of").textContent(), { timeout: 30_000 }).toBe("done");
    await study.getByText("8 of 8 runs").waitFor();
    await study.getByText("Cells").click();
    expect(await study.locator("tbody tr").count()).toBe(4);
    expect(await study.getByRole("cell", { name: "2 of 2" }).count()).toBe(4);
    await row(page, "grid").waitFor();
    await shot(page, "native-study");
    await study.getByRole("button", { name: "Report of grid" }).click();
    await page.frameLocator("dialog iframe").getByText("newreno").first().waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("cancels a study", async () => {
    const { page } = await native();
    await page.getByRole("button", { name: "Run long.toml" }).click();
    const study = card(page, "Study long");
    await study.getByText("0 of 8 runs").waitFor();
    await study.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => study.locator(".standing-of").textContent(), { timeout: 30_000 }).toBe("cancelled");
    await page.context().close();
  });

  test("checks and runs with the native engine by choice, with the same hash", async () => {
    const { page, complaints } = await opened();
    const checks: string[] = [];
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => {
        checks.push(...(/"op":"(\w+)"/.exec(String(payload))?.slice(1) ?? []));
      });
    });
    const own = await runInView(page);
    expect(checks).toEqual([]);
    await page.getByLabel("Run on").selectOption("machine");
    await replacing(page, "section.outcome", () => page.getByRole("button", { name: "Restart" }).click());
    expect(await runInView(page)).toBe(own);
    await page.getByRole("link", { name: "Scenario" }).click();
    await page.locator('[id="in-links[0].rate"]').fill("2 miles");
    await page.locator(".standing.bad").waitFor();
    await page.locator('[id="in-links[0].rate"]').fill("2 Mbit/s");
    await page.locator(".standing:is(.good, .warn)").waitFor();
    expect(checks).toContain("check");
    await shot(page, "native-engine");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("compares with the native engine by choice, with the same hashes", async () => {
    const { page, complaints } = await opened();
    const starts: string[] = [];
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => {
        starts.push(...(/"op":"start".*"seed":(\d+)/.exec(String(payload))?.slice(1) ?? []));
      });
    });
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("button", { name: "cubic", pressed: true }).waitFor();
    await page.getByLabel("Seeds").fill("3");
    await page.getByLabel("Seeds").blur();
    const own = await comparedRuns(page);
    expect(starts).toEqual([]);
    await page.reload();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Run on").selectOption("machine");
    await page.getByRole("button", { name: "cubic", pressed: true }).waitFor();
    await page.getByLabel("Seeds").fill("3");
    await page.getByLabel("Seeds").blur();
    expect(await comparedRuns(page)).toEqual(own);
    expect(starts.length).toBe(12);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("has no violations, light, dark and on a phone", async () => {
    for (const [name, options] of Object.entries({
      light: {},
      dark: { colorScheme: "dark" as const },
      phone: { viewport: { width: 360, height: 740 }, hasTouch: true },
      wide: { viewport: { width: 3840, height: 2160 } },
    })) {
      const { page, complaints } = await native(options);
      await run(page);
      await expect.poll(() => card(page, "Run geo").getByRole("status").textContent()).toBe("done");
      await page.getByLabel("Compare algorithms").check();
      await shot(page, `native-${name}`);
      expect(await violations(page), name).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, name).toBeLessThanOrEqual(0);
      await page
        .getByRole("button", { name: /^Report of geo/ })
        .first()
        .click();
      await page.frameLocator("dialog iframe").getByRole("heading").first().waitFor();
      await shot(page, `native-report-${name}`);
      expect(complaints, name).toEqual([]);
      await page.context().close();
    }
  });
});

describe("a separate server", () => {
  test("an error in FILE is shown in the list and at its position", async () => {
    const bad = await Server.start(["bad.toml"], (folder) =>
      writeFile(join(folder, "bad.toml"), SHORT.replace("10 Mbit/s", "10 miles")),
    );
    const { page } = await opened({}, bad);
    await page.locator(".standing.bad").waitFor();
    await page.getByText("links[0].rate").first().waitFor();
    await writeFile(join(bad.folder, "bad.toml"), SHORT);
    await page.reload();
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.context().close();
    await bad.forget();
  });

  test("a FILE that is not valid TOML is shown in the text, with its error", async () => {
    const bad = await Server.start(["bad.toml"], (folder) => writeFile(join(folder, "bad.toml"), "duration = \n"));
    const { page } = await opened({}, bad);
    await page.locator(".standing.bad").waitFor();
    await page.getByRole("alert").getByText("bad.toml").waitFor();
    expect(await text(page)).toContain("duration =");
    await page.context().close();
    await bad.forget();
  });

  test("a FILE that names code is rejected with an error", async () => {
    const code = `${SHORT}congestion = { python = "x.py:X" }\n`;
    const bad = await Server.start(["bad.toml"], (folder) => writeFile(join(folder, "bad.toml"), code));
    const { page } = await opened({}, bad);
    await page.getByRole("alert").getByText("is code, which the studio never runs").waitFor();
    expect(await text(page)).toContain("x.py:X");
    await page.context().close();
    await bad.forget();
  });

  test("its end is reported immediately, its tasks are lost, and the page reconnects automatically", async () => {
    const own = await Server.start(["results/endless.toml"], prepared);
    const { page } = await native({}, own);
    await page.getByLabel("Run on").selectOption("machine");
    await page.getByRole("button", { name: "Run on this machine" }).click();
    await expect.poll(() => card(page, "Run endless").getByRole("status").textContent()).toBe("running");
    await own.end("SIGKILL");
    await page.getByRole("alert").getByText("lightlag studio has stopped or does not respond").waitFor();
    await expect.poll(() => card(page, "Run endless").getByRole("status").textContent()).toBe("lost");
    expect(await page.getByLabel("Run on").inputValue()).toBe("page");
    expect(await page.getByLabel("Run on").isDisabled()).toBe(true);
    await shot(page, "native-killed");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.locator(".results-here").getByRole("alert").waitFor();
    await page.getByRole("link", { name: "Scenario" }).click();
    await page.locator('[id="in-duration"]').fill("soon");
    await page.locator(".standing.bad").waitFor();
    await page.locator('[id="in-duration"]').fill("2 s");
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.context().close();
    await own.forget();
  });

  test("its end during a comparison leaves the other runs to the page", async () => {
    const own = await Server.start(["geo.toml"], prepared);
    const { page } = await opened({}, own);
    await page.getByLabel("Run on").selectOption("machine");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("button", { name: "cubic", pressed: true }).waitFor();
    await page.getByLabel("Seeds").fill("200");
    await page.getByLabel("Seeds").blur();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText(/^[1-9]\d* of 800 runs/).waitFor();
    await own.end("SIGKILL");
    await page.getByRole("alert").getByText("lightlag studio has stopped or does not respond").waitFor();
    const count = async () => Number.parseInt((await page.locator(".count").textContent()) ?? "", 10);
    const before = await count();
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before + 4);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    expect(await page.locator(".entry .bad").count()).toBe(0);
    await page.context().close();
    await own.forget();
  });

  test("its end during a live run of the native engine is reported in the run", async () => {
    const own = await Server.start(["results/endless.toml"], prepared);
    const { page } = await opened({}, own);
    await page.getByLabel("Run on").selectOption("machine");
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await own.end("SIGKILL");
    await page.locator(".fault").getByText("lightlag studio has stopped or does not respond").waitFor();
    await page.context().close();
    await own.forget();
  });
});
