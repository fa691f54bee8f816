/** Each page of the gallery has a frame whose scenario runs. */

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Studio } from "./browser.ts";

const ROOT = new URL("../../", import.meta.url);
const PYTHON = process.env.PYTHON ?? new URL(".venv/bin/python", ROOT).pathname;
const env = { ...process.env, PYTHONPATH: new URL("scripts", ROOT).pathname };
const addresses = JSON.parse(execFileSync(PYTHON, ["-m", "manual.live"], { env, encoding: "utf8" }));

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});
afterAll(async () => {
  await studio.close();
});

test.each(Object.entries(addresses as Record<string, string>))("%s", { timeout: 120_000 }, async (_, address) => {
  const { page, complaints } = await studio.page({}, address, "button.primary:not([disabled])");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText(/[0-9a-f]{32}/).waitFor({ timeout: 100_000 });
  expect(complaints).toEqual([]);
  await page.context().close();
});
