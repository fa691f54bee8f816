import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animation, fingers, GL, openToml, PAIR, Studio, violations } from "./browser.ts";

const SHOTS = fileURLToPath(new URL("../../dist/screenshots/", import.meta.url));

let studio: Studio;
let flat: Studio;

beforeAll(async () => {
  await mkdir(SHOTS, { recursive: true });
  studio = await Studio.open(GL);
  flat = await Studio.open(["--disable-3d-apis"]);
});

afterAll(async () => {
  await studio.close();
  await flat.close();
});

/** Runs a preset and opens one of its animations. */
async function open(
  name: string,
  picture: string,
  options = {},
  on = studio,
): Promise<{ page: Page; complaints: string[] }> {
  const { page, complaints } = await on.page(options);
  const toml = await readFile(new URL(`../../scenarios/${name}.toml`, import.meta.url));
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: `${name}.toml`, mimeType: "text/plain", buffer: toml });
  await expect.poll(() => page.locator(".title").textContent(), { timeout: 20_000 }).toBe(name);
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await animation(page, picture);
  return { page, complaints };
}

function shot(page: Page, name: string): Promise<Buffer> {
  return page.locator(".pictures").screenshot({ path: `${SHOTS}${name}.png` });
}

/** Returns true if a canvas changes between two frames. */
async function moves(page: Page, canvas: string): Promise<boolean> {
  const look = () => page.locator(canvas).first().screenshot();
  const first = await look();
  for (let tries = 0; tries < 20; tries++) {
    if (!first.equals(await look())) {
      return true;
    }
  }
  return false;
}

describe("the network", () => {
  test.each([
    ["geo", {}],
    ["dumbbell", { viewport: { width: 360, height: 740 } }],
    ["search-and-rescue", { colorScheme: "dark" as const }],
    ["starlink-550", {}],
  ])("animation of %s shows packets in transit", async (name, options) => {
    const { page, complaints } = await open(name, "Network", options);
    await page.getByRole("button", { name: "Watch its packets" }).click();
    const shown = page.locator(".moving-key .shown");
    await expect.poll(() => shown.textContent(), { timeout: 40_000 }).toMatch(/[1-9]\d* packets? drawn/);
    expect(await moves(page, ".moving canvas")).toBe(true);
    await shot(page, `network-${name}`);
    expect(await page.locator(".moving canvas").getAttribute("aria-label")).toMatch(/\d+ nodes/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("is still if the user prefers reduced motion, and lists queue values", async () => {
    const { page } = await open("dumbbell", "Network", { reducedMotion: "reduce" });
    await page.getByRole("button", { name: "Watch its packets" }).click();
    await page.getByText("without motion, because your system requests reduced motion").waitFor();
    await page.getByText("Queue values").waitFor({ timeout: 40_000 });
    const most = page.locator(".moving-links td").nth(2);
    await expect.poll(async () => Number(await most.textContent())).toBeGreaterThan(0);
    await page.context().close();
  });
});

describe("queues", () => {
  /** Returns the length of a queue as shown in the animation and in the table, at each frame of some seconds. */
  async function frames(page: Page): Promise<[painted: string, listed: string][]> {
    return page.evaluate(
      () =>
        new Promise((done) => {
          const { prototype } = CanvasRenderingContext2D;
          const { fillText } = prototype;
          let painted = "";
          prototype.fillText = function (...given: Parameters<typeof fillText>) {
            if (/^[\d,]+$/.test(given[0]) && this.canvas.closest(".moving")) {
              painted = given[0];
            }
            fillText.apply(this, given);
          };
          const seen: [string, string][] = [];
          const start = performance.now();
          const look = () => {
            const heads = [...document.querySelectorAll(".moving-links th")];
            const queue = heads.findIndex((head) => head.textContent === "queue");
            seen.push([painted, document.querySelectorAll(".moving-links td")[queue]?.textContent ?? ""]);
            if (performance.now() - start < 4_000) {
              requestAnimationFrame(look);
            } else {
              prototype.fillText = fillText;
              done(seen.filter(([text]) => text !== ""));
            }
          };
          requestAnimationFrame(look);
        }),
    );
  }

  test.each(["geo", "starlink-550"])("in a fast run of %s have the recorded lengths", async (name) => {
    const { page } = await open(name, "Network");
    await page.locator(".hash").waitFor({ timeout: 40_000 });
    const cells = page.locator(".moving-links tbody tr").first().locator("td");
    await expect.poll(() => cells.count(), { timeout: 40_000 }).toBeGreaterThan(3);
    const side = page.locator(".side .links tbody tr").first();
    expect(await cells.nth(0).textContent()).toBe(await side.locator(".name").textContent());
    expect(await cells.nth(2).textContent()).toBe(await side.locator("td").first().textContent());
    expect(Number((await cells.nth(2).textContent())?.replace(",", ""))).toBeGreaterThan(100);
    // Packets of a part of the run repeat, and with them the queues.
    await page.getByRole("button", { name: "Pause packets" }).click();
    let shown: [string, string][] = [];
    await expect
      .poll(async () => {
        shown = await frames(page);
        return new Set(shown.map(([painted, listed]) => `${painted} ${listed}`)).size;
      })
      .toBe(1);
    expect(shown[0]?.[0]).toBe(shown[0]?.[1]);
    // The maximum is equal if the animation is opened after the run.
    const pictures = page.getByRole("group", { name: "Animation" });
    await pictures.getByRole("button", { name: "Network", exact: true }).click();
    await pictures.getByRole("button", { name: "Network", exact: true }).click();
    await expect.poll(() => cells.count(), { timeout: 40_000 }).toBeGreaterThan(3);
    expect(await cells.nth(2).textContent()).toBe(await side.locator("td").first().textContent());
    await page.context().close();
  });

  test("that change have the same lengths in the animation and in the table", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.locator(".hash").waitFor();
    await page.locator(".speed select").selectOption("1");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await animation(page, "Network");
    const most = page.locator(".moving-links tbody td").nth(2);
    await expect.poll(async () => Number(await most.textContent()), { timeout: 40_000 }).toBeGreaterThan(9);
    const shown = await frames(page);
    expect(new Set(shown.map(([painted]) => painted)).size).toBeGreaterThan(3);
    const apart = shown.map(([painted, listed]) => (painted === listed ? "." : "x")).join("");
    // The page updates the table one frame after the animation.
    expect(apart).not.toContain("xxx");
    await page.context().close();
  });
});

/** Shows the packets at the start of a run, in the entire window from 0 s to 2 s. */
async function fromStart(page: Page, window: RegExp): Promise<void> {
  await page.getByRole("combobox", { name: "Moment" }).selectOption("start");
  const view = page.getByText(/^In view: /);
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "All", exact: true }).click();
      return view.textContent();
    })
    .toMatch(window);
}

test("packets around the first loss play after a fast run, and stop on demand", async () => {
  const { page, complaints } = await open("lossy", "Network");
  const shown = page.locator(".moving-key .shown");
  await expect.poll(() => shown.textContent()).toMatch(/[1-9]\d* packets? drawn, [\d.]+ times (slower|faster)/);
  expect(await moves(page, ".moving canvas")).toBe(true);
  expect(await page.getByRole("combobox", { name: "Packets of" }).inputValue()).toBe("loss");
  await page.getByRole("button", { name: "Pause packets" }).click();
  await page.getByRole("slider", { name: "Time of the packets" }).press("Home");
  const first = await shown.textContent();
  await page.getByRole("combobox", { name: "Packets of" }).selectOption("start");
  await expect.poll(() => shown.textContent()).not.toBe(first);
  expect(complaints).toEqual([]);
  await page.context().close();
});

describe("space-time", () => {
  test("opens on the first loss of a flow", async () => {
    const { page } = await open("lossy", "Space-time");
    const moment = page.getByRole("combobox", { name: "Moment" });
    await expect.poll(() => moment.inputValue()).toBe("loss");
    const [, loss = ""] = /first loss, ([\d.]+) s/.exec((await moment.textContent()) ?? "") ?? [];
    const view = page.getByText(/^In view: /);
    await expect
      .poll(async () => {
        const [, from, to] = /^In view: ([\d.]+) s to ([\d.]+) s/.exec((await view.textContent()) ?? "") ?? [];
        return Number(from) <= Number(loss) && Number(loss) < Number(to);
      })
      .toBe(true);
    await page.getByText(/[1-9]\d* dropped/).waitFor();
    await page.context().close();
  });

  /** Returns the distance in pixels between neighbouring lines of data in the saved diagram: the 10th percentile. */
  async function apart(page: Page): Promise<number> {
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save SVG" }).click();
    const svg = await readFile((await (await saved).path()) ?? "", "utf8");
    const data = [
      ...svg.matchAll(/<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" stroke="(#[^"]*)" stroke-width="1"\/>/g),
    ]
      .map(([, ax, ay, bx, by, stroke]) => ({ ax: Number(ax), ay: Number(ay), bx: Number(bx), by: Number(by), stroke }))
      .filter(({ ax, ay, bx, by }) => ay !== by && ax !== bx);
    const longest = Math.max(...data.map(({ ay, by }) => Math.abs(by - ay)));
    const lines = data.filter(({ ay, by }) => Math.abs(by - ay) > 0.8 * longest).sort((a, b) => a.ax - b.ax);
    const gaps = lines.slice(1).flatMap(({ ax, ay, bx, by }, at) => {
      const before = lines[at];
      return before && before.ay === ay ? [((ax - before.ax) * Math.abs(by - ay)) / Math.hypot(bx - ax, by - ay)] : [];
    });
    expect(gaps.length).toBeGreaterThan(0);
    return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 10)] ?? 0;
  }

  test.each([
    ["geo", { viewport: { width: 390, height: 844 } }, 100],
    ["mars", {}, 1000],
  ])("diagram of %s opens where packets can be distinguished, and shows all on demand", async (name, options, most) => {
    const { page } = await open(name, "Space-time", options);
    const view = page.getByText(/^In view: /);
    await view.waitFor({ timeout: 40_000 });
    const counts = async () => {
      const [, part = "", all = ""] = /, ([\d,]+) of ([\d,]+) packets/.exec((await view.textContent()) ?? "") ?? [];
      return [part, all].map((text) => Number(text.replaceAll(",", "")));
    };
    const [part = 0, all = 0] = await counts();
    expect(part).toBeGreaterThan(4);
    expect(part).toBeLessThan(most);
    expect(await view.textContent()).toMatch(/round trips of [\d.]+ (m?s|min)\)/);
    expect(await page.locator(".moving-says[role=status]").textContent()).toMatch(
      new RegExp(`^${all.toLocaleString("en")} packets, `),
    );
    expect(await apart(page)).toBeGreaterThan(1.5);
    await page.getByRole("button", { name: "All", exact: true }).click();
    await expect.poll(counts).toEqual([all, all]);
    await page.context().close();
  });

  test("shows, zooms, lists and saves the packets of a window", async () => {
    const { page, complaints } = await open("lossy", "Space-time");
    await page.getByText(/\d+ packets, [1-9]\d* retransmitted, [1-9]\d* dropped/).waitFor({ timeout: 40_000 });
    await fromStart(page, /0\.000 s to 2\.000 s/);
    await shot(page, "space-time-lossy");
    await page.getByText("Packets in view, as text").click();
    const words = page.locator(".moving-links li");
    expect(await words.first().textContent()).toContain("a1 → b1");
    expect(await words.allTextContents()).toContainEqual(expect.stringContaining("seq 0, len 1448 B"));
    await page.getByRole("application", { name: /^Time runs to the right/ }).press("+");
    await page.getByText("in view: 0.200 s to 1.800 s").waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save SVG" }).click();
    const svg = await readFile((await (await saved).path()) ?? "", "utf8");
    expect(svg).toMatch(/^<svg [^>]*>.*<path d="M.*a1<\/text>/s);
    await page.getByRole("spinbutton", { name: "from" }).fill("3");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("is not a valid window").waitFor();
    expect(complaints).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

test("two fingers zoom the space-time diagram, and one scrolls the page", async () => {
  const { page } = await open("lossy", "Space-time", {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  const shown = page.getByText(/^In view: /);
  await shown.waitFor({ timeout: 40_000 });
  await fromStart(page, /0\.000 s to 2\.000 s/);
  const canvas = page.locator("canvas.diagram");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  if (!box) {
    throw new Error("no diagram");
  }
  const at = (part: number): [number, number] => [box.x + part * box.width, box.y + box.height / 2];
  const touch = await fingers(page);
  await touch("Start", at(0.5), at(0.7));
  await touch("Move", at(0.45), at(0.8));
  await touch("Move", at(0.4), at(0.9));
  await touch("End");
  const view = async () => {
    const [from = 0, to = 0] =
      /view: ([\d.]+) s to ([\d.]+) s/
        .exec((await shown.textContent()) ?? "")
        ?.slice(1)
        .map(Number) ?? [];
    return to - from;
  };
  await expect.poll(view).toBeCloseTo(0.8, 1);
  const zoomed = await shown.textContent();
  const before = await page.evaluate(() => scrollY);
  const [x, y] = at(0.5);
  await touch("Start", [x, y]);
  for (const step of [1, 2, 3, 4, 5]) {
    await touch("Move", [x, y - 30 * step]);
  }
  await touch("End");
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before);
  expect(await shown.textContent()).toBe(zoomed);
  await page.context().close();
});

describe("space", () => {
  test.each([
    ["starlink-550", ["London", "New York", "Singapore"], {}],
    ["starlink-550", ["London", "New York", "Singapore"], { viewport: { width: 390, height: 844 } }],
    ["iridium", ["Anchorage", "Oslo"], {}],
  ])("the globe of %s opens with all stations in view", async (name, stations, options) => {
    const { page } = await open(name, "Globe", options);
    const stage = page.locator(".stage");
    const tags = stage.locator(".tag:not(.hover)");
    await expect.poll(() => tags.count(), { timeout: 40_000 }).toBe(stations.length);
    await expect
      .poll(() => tags.evaluateAll((all) => all.filter((tag) => tag.checkVisibility()).length))
      .toBe(stations.length);
    expect((await tags.allTextContents()).sort()).toEqual(stations);
    const around = await stage.boundingBox();
    for (const tag of await tags.all()) {
      const box = await tag.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(around?.x ?? 0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0));
      expect(box?.y).toBeGreaterThanOrEqual(around?.y ?? 0);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((around?.y ?? 0) + (around?.height ?? 0));
    }
    await page.context().close();
  });

  test.each([
    ["starlink-550", { colorScheme: "dark" as const }, "1,584 satellites"],
    ["iridium", { viewport: { width: 360, height: 740 } }, "66 satellites"],
  ])("%s on the globe", async (name, options, count) => {
    const { page, complaints } = await open(name, "Globe", options);
    await page.getByText(count).waitFor({ timeout: 40_000 });
    await expect.poll(() => page.locator(".space-list td").nth(2).textContent(), { timeout: 40_000 }).toMatch(/[1-9]/);
    await page.getByLabel("Time", { exact: true }).fill("0");
    await expect.poll(() => page.locator(".space-bar output").textContent(), { timeout: 40_000 }).toContain("0.0 s");
    const before = await page.locator(".stage canvas").screenshot();
    await page.getByRole("application", { name: /^The Earth/ }).press("ArrowRight");
    await expect.poll(async () => before.equals(await page.locator(".stage canvas").screenshot())).toBe(false);
    await shot(page, `globe-${name}`);
    await page.getByText("Stations and satellites").click();
    await page.getByLabel("Find a satellite").fill("-5-");
    const found = page.locator(".space-list li button", { hasText: "-5-" });
    await found.first().click();
    await expect.poll(() => page.locator(".tag.hover").textContent()).toContain(await found.first().textContent());
    expect(complaints.filter((text) => !text.includes("GPU stall"))).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  test.each([
    ["swarm", {}, "60 nodes"],
    ["search-and-rescue", { viewport: { width: 360, height: 740 } }, "21 nodes"],
  ])("%s in flight", async (name, options, count) => {
    const { page, complaints } = await open(name, "Swarm", options);
    await page.getByText(count).waitFor({ timeout: 40_000 });
    await shot(page, `swarm-${name}`);
    expect(complaints.filter((text) => !text.includes("GPU stall"))).toEqual([]);
    await page.context().close();
  });

  test("a browser without WebGL gets a notice", async () => {
    const { page } = await open("iridium", "Globe", {}, flat);
    await page.getByText("The globe needs WebGL 2").waitFor();
  });
});
