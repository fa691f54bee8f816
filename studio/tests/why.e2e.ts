import { afterAll, beforeAll, expect, test } from "vitest";
import { openToml, PAIR, Studio, violations } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

/** Opens a page with a finished run of a scenario. */
async function finished(toml: string) {
  const opened = await studio.page();
  await openToml(opened.page, toml);
  await opened.page.locator(".standing:is(.good, .warn)").waitFor();
  await opened.page.getByRole("button", { name: "Run", exact: true }).click();
  await opened.page.locator(".hash").waitFor();
  return opened;
}

const SMALL_BUFFER = `${PAIR}[defaults.tcp]
receive_buffer = "16 kB"
`;

test("the causes of a run are measured, with their effects and the fix", async () => {
  const { page, complaints } = await finished(SMALL_BUFFER);
  const why = page.locator(".why");
  await why.getByText("The scenario runs again without each possible cause").waitFor();
  await why.getByRole("button", { name: "Measure the causes" }).click();
  await why.getByText("Cause: receive window: the receive window is smaller than the path needs.").waitFor();
  const button = why.getByRole("button", { name: "Measure the causes" });
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  const sentences = await why.locator(".sentences li").allTextContents();
  expect(sentences[0]).toMatch(/^a->b: [\d.]+ kbit\/s|^a->b: [\d.]+ Mbit\/s/);
  expect(sentences[2]).toMatch(/^Without it: [\d.]+ times as fast/);
  expect(sentences[3]).toMatch(/^Fix: allow a receive buffer/);
  const first = why.locator(".causes tbody tr").first();
  expect(await first.locator("th").textContent()).toBe("receive window");
  expect(await first.locator("td").first().textContent()).toMatch(/^[\d.]+ ×$/);
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("a measurement can be cancelled, and made again", async () => {
  const { page, complaints } = await finished(SMALL_BUFFER.replace(/duration = ".*"/, 'duration = "3000 s"'));
  const why = page.locator(".why");
  await why.getByRole("button", { name: "Measure the causes" }).click();
  await why.getByRole("button", { name: "Cancel" }).click();
  await why.getByRole("button", { name: "Measure the causes" }).waitFor();
  expect(await why.locator(".sentences").count()).toBe(0);
  await why.getByRole("button", { name: "Measure the causes" }).click();
  await why.getByText(/^Cause: /).waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});
