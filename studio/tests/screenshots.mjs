/**
 * Takes a screenshot of every view at four widths, in light and dark:
 * node tests/screenshots.mjs FOLDER [NAME …], where NAME is a part of the names of the wanted screenshots.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { ROOT, served } from "./served.mjs";

const [folder = "screenshots", ...wanted] = process.argv.slice(2);
const WIDTHS = { 360: 740, 768: 1024, 1280: 800, 2560: 1440 };

const preset = (name) => readFileSync(new URL(`scenarios/${name}.toml`, ROOT));

async function open(page, name, buffer = preset(name)) {
  await page.locator("input[type=file]").setInputFiles({ name: `${name}.toml`, mimeType: "text/plain", buffer });
  await page.locator(".standing:is(.good, .warn, .bad)").waitFor();
}

async function run(page, name, picture) {
  await open(page, name);
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await page.locator(".hash").waitFor();
  if (picture) {
    const button = page.getByRole("group", { name: "Animation" }).getByRole("button", { name: picture, exact: true });
    if ((await button.getAttribute("aria-pressed")) !== "true") {
      await button.click();
    }
  }
  await page.waitForTimeout(1500);
}

const BROKEN = Buffer.from(`name = "broken"\n[[links]]\nbetween = ["a", "b"]\nrate = "10 Mbit"\ndelay = "50 ms"\n`);

/** How each view is reached; all but the first and the last start at the scenario. */
const VIEWS = {
  start: ["?view=start", async (page) => page.locator(".start .headline").waitFor()],
  scenario: ["?view=scenario", async (page) => open(page, "geo")],
  "scenario-drawing": ["?view=scenario", async (page) => page.getByRole("tab", { name: "Drawing" }).click()],
  "scenario-errors": ["?view=scenario", async (page) => open(page, "broken", BROKEN)],
  "run-network": ["?view=scenario", async (page) => run(page, "geo", "Network")],
  "run-space-time": ["?view=scenario", async (page) => run(page, "geo", "Space-time")],
  "run-mars": ["?view=scenario", async (page) => run(page, "mars")],
  "run-traffic": ["?view=scenario", async (page) => run(page, "traffic")],
  "run-globe": ["?view=scenario", async (page) => run(page, "starlink-550")],
  "run-swarm": ["?view=scenario", async (page) => run(page, "swarm")],
  compare: [
    "?view=scenario",
    async (page) => {
      await open(page, "geo");
      await page.getByRole("link", { name: "Compare", exact: true }).click();
      await page.getByRole("button", { name: "Compare", exact: true }).click();
      await page.getByRole("button", { name: "Compared" }).waitFor();
    },
  ],
  help: ["?view=scenario", async (page) => page.getByRole("button", { name: "Help" }).click()],
  save: ["?view=scenario", async (page) => page.getByRole("button", { name: "Save", exact: true }).click()],
  share: ["?view=scenario", async (page) => page.getByRole("button", { name: "Share", exact: true }).click()],
  embed: ["embed.html?scenario=geo&autorun", async (page) => page.locator(".hash code").waitFor()],
};

mkdirSync(folder, { recursive: true });
const { browser, address, close } = await served();
for (const [name, [query, reach]] of Object.entries(VIEWS)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) {
    continue;
  }
  const context = await browser.newContext({ serviceWorkers: "block", viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on("pageerror", (error) => console.log(`${name}: ${error.message}`));
  await page.goto(address + query);
  if (query.startsWith("?view=scenario")) {
    await page.locator(".standing:is(.good, .warn, .bad)").first().waitFor();
  }
  await reach(page);
  for (const [width, height] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width: Number(width), height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(700);
      // A dialog is as high as the window, and a page as its content.
      const fullPage = !["help", "save", "share"].includes(name);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage });
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > Number(width)) {
      console.log(`${name}: ${wide} pixels wide at ${width}`);
    }
  }
  await context.close();
}
await close();
