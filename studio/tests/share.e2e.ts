import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openToml, Studio, text, violations } from "./browser.ts";

let studio: Studio;

beforeAll(async () => {
  studio = await Studio.open();
});

afterAll(async () => {
  await studio.close();
});

const LOSSY = `name = "a lossy pair" # öä
duration = "20 s"
seed = 4
[[links]]
between = ["a", "b"]
rate = "5 Mbit/s"
delay = "100 ms"
queue = "1 bdp"
loss = 1e-3
[[flows]]
from = "a"
to = "b"
transfer = "2 MB"
`;

/** Returns the two links in the dialog: to the page, and of the embedded frame. */
async function shared(page: Page): Promise<{ link: string; frame: string }> {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  const code = await page.getByLabel("HTML to embed it in a page", { exact: true }).inputValue();
  return { link, frame: /src="([^"]*)"/.exec(code)?.[1] ?? "" };
}

/** Returns the hash of an embedded run, which is started by keyboard. */
async function hashOf(address: string): Promise<string> {
  const { page, complaints } = await studio.page({}, address.replace(studio.address, ""), "h1");
  await page.getByRole("button", { name: "Run" }).press("Enter");
  const hash = await page.locator(".hash code").textContent();
  expect(complaints).toEqual([]);
  await page.close();
  return hash ?? "";
}

describe("links", () => {
  test("a fresh profile has the same scenario, view and variants, and its run the same hash", async () => {
    const { page } = await studio.page();
    await openToml(page, LOSSY);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("button", { name: "bbr", pressed: true }).click();
    await page.getByLabel("Seeds").fill("7");
    await page.getByLabel("Seeds").blur();
    const { link, frame } = await shared(page);
    expect(link).toMatch(/^http:\/\/127.0.0.1:\d+\/#a\.[\w-]+$/);
    expect(link.length).toBeLessThan(1000);

    const other = await studio.page({}, link.replace(studio.address, ""), ".compare");
    await other.page.getByText("21 of 21 runs").waitFor();
    await other.page.locator(".answer").waitFor();
    expect(
      await other.page.locator(".entry .name").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value)),
    ).toEqual(["newreno", "cubic", "hybla"]);
    await other.page.getByRole("link", { name: "Scenario" }).click();
    await other.page.locator(".standing.good, .standing.warn").waitFor();
    expect((await text(other.page)).trim()).toBe(LOSSY.trim());
    expect(other.complaints).toEqual([]);

    const hash = await hashOf(frame);
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(await hashOf(frame)).toBe(hash);
  });

  test.each([
    ["#a.!", "invalid characters"],
    ["#a.AAAA", "damaged or truncated"],
    ["#c.AAAA", 'has version "c"'],
  ])("%s gives one clear message, and the page still works", async (fragment, message) => {
    const { page, complaints } = await studio.page({}, `?view=scenario${fragment}`);
    await page.getByRole("alert").filter({ hasText: message }).waitFor();
    expect(await text(page)).toContain('"geo"');
    expect(complaints).toEqual([]);
  });

  test("a link that programs may truncate gives a notice", async () => {
    const { page } = await studio.page();
    const noise = Array.from({ length: 1000 }, (_, at) => `# ${Math.sin(at).toString(36)}${Math.cos(at).toString(36)}`);
    await openToml(page, `${LOSSY}${noise.join("\n")}\n`);
    await shared(page);
    await page.getByText(/The link has [\d,]+ characters. Some programs truncate links/).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("a link is copied to the clipboard", async () => {
    const { page } = await studio.page({ permissions: ["clipboard-read", "clipboard-write"] });
    const { link } = await shared(page);
    await page.getByRole("button", { name: "Copy: Link" }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  });
});

describe("embedded runs", () => {
  test("a preset with changes runs, shows its charts and leads to the studio", async () => {
    const query = "embed.html?scenario=geo&sets=defaults.tcp.congestion%3Dbbr&seed=2&autorun";
    const { page, complaints } = await studio.page({}, query, ".hash code");
    expect(await page.locator(".charts img").evaluateAll((all) => all.map((one) => one.getAttribute("alt")))).toEqual([
      expect.stringMatching(/^cwnd in segments/),
      expect.stringMatching(/^goodput in Mbit\/s/),
      expect.stringMatching(/^queue in packets/),
    ]);
    await page.getByRole("row", { name: /client->server bbr .* Mbit\/s/ }).waitFor();
    const bbr = await page.locator(".hash code").textContent();
    await page.getByLabel("Congestion control").selectOption("cubic");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("row", { name: /client->server cubic/ }).waitFor();
    expect(await page.locator(".hash code").textContent()).not.toBe(bbr);
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const link = (await page.getByRole("link", { name: "Open in the studio" }).getAttribute("href")) ?? "";
    // The link runs by itself, and shows the result of the frame.
    const whole = await studio.page({}, link.replace("./", ""), ".outcome .hash");
    expect(await whole.page.locator(".outcome .hash").textContent()).toBe(bbr);
    await whole.page.getByRole("link", { name: "Scenario" }).click();
    await whole.page.locator(".standing:is(.good, .warn)").waitFor();
    expect(await text(whole.page)).toContain("bbr");
  });

  test("a phone shows a run without scrolling sideways", async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, colorScheme: "dark" } as const;
    const { page } = await studio.page(phone, "embed.html?scenario=dumbbell&autorun", ".hash code");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(await violations(page)).toEqual([]);
  });

  test("an unknown name is reported with the known ones", async () => {
    const { page } = await studio.page({}, "embed.html?scenario=geostationary", "[role=alert]");
    expect(await page.getByRole("alert").textContent()).toMatch(/no scenario "geostationary"; there are geo, /);
  });

  test("an element in another page is a frame with its run", async () => {
    const { page } = await studio.page({ serviceWorkers: "block" });
    await page.route("**/host.html", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<script type="module" src="lightlag-run.js"></script>
          <lightlag-run scenario="lossy" sets="duration=5 s" autorun height="500"></lightlag-run>
          <lightlag-run autorun><script type="application/toml">${LOSSY}</script></lightlag-run>`,
      }),
    );
    await page.goto(`${studio.address}host.html`);
    await page.frameLocator("iframe >> nth=0").locator(".hash code").waitFor();
    expect(await page.locator("iframe").first().getAttribute("height")).toBe("500");
    await page.frameLocator("iframe >> nth=1").getByRole("heading", { name: "a lossy pair" }).waitFor();
    await page.frameLocator("iframe >> nth=1").locator(".hash code").waitFor();
  });
});
