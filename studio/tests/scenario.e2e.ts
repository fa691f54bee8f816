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

const PAIR = `duration = "20 s" # long enough
[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "1 bdp"
[[flows]]
from = "a"
to = "b"
`;

/** Scenarios with an error, each with the path that the error reports. */
const BAD: [string, string, string][] = [
  ["a rate without a unit", PAIR.replace("10 Mbit/s", "10"), "links[0].rate"],
  ["a rate of zero", PAIR.replace("10 Mbit/s", "0 bit/s"), "links[0].rate"],
  ["a delay that is a number", PAIR.replace('"20 ms"', "20"), "links[0].delay"],
  ["a delay in other units", PAIR.replace("20 ms", "20 miles"), "links[0].delay"],
  ["a queue in words", PAIR.replace("1 bdp", "much"), "links[0].queue"],
  ["an unknown key", PAIR.replace("queue", "quue"), "links[0].quue"],
  ["a loss above one", PAIR.replace('queue = "1 bdp"', "loss = 1.5"), "links[0].loss"],
  ["a link with one endpoint", PAIR.replace('["a", "b"]', '["a"]'), "links[0].between"],
  ["a link to itself", PAIR.replace('["a", "b"]', '["a", "a"]'), "links[0].between"],
  ["a link without a rate", PAIR.replace('rate = "10 Mbit/s"\n', ""), "links[0].rate"],
  ["a flow from an unknown node", PAIR.replace('from = "a"', 'from = "x"'), "flows[0].from"],
  ["a flow to itself", PAIR.replace('to = "b"', 'to = "a"'), "flows[0].to"],
  ["an unknown algorithm", `${PAIR}congestion = "cubi"\n`, "flows[0]"],
  ["a transfer in words", `${PAIR}transfer = "all"\n`, "flows[0].transfer"],
  ["an unknown transport", `${PAIR}transport = "sctp"\n`, "flows[0].transport"],
  ["an invalid duration", PAIR.replace("20 s", "soon"), "duration"],
  ["no duration", PAIR.replace(/duration.*\n/, ""), "duration"],
  ["a seed below zero", `seed = -1\n${PAIR}`, "seed"],
  ["an unknown section", `${PAIR}[linkz]\n`, "linkz"],
  ["a boolean that is a string", `${PAIR}tcp.sack = "yes"\n`, "flows[0].tcp.sack"],
  ["a text that is not valid TOML", PAIR.replace('"20 ms"', '"20 ms'), "line 5"],
  ["code from a file", `${PAIR}congestion = { python = "x.py:X" }\n`, "flows[0].congestion"],
];

test("on a phone the name of a scenario is next to Save and Share", async () => {
  const { page } = await studio.page({ viewport: { width: 360, height: 740 }, hasTouch: true });
  for (const name of ["geo", "search-and-rescue"]) {
    await openToml(page, `name = "${name}"\n`);
    const title = page.getByRole("heading", { name, exact: true });
    await expect.poll(() => title.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    const rows = await page
      .locator(".title, .tools")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2));
    expect(Math.max(...rows) - Math.min(...rows)).toBeLessThan(4);
  }
  await page.context().close();
});

describe("the presets", () => {
  test("are one tab stop, with arrow keys inside", async () => {
    const { page } = await studio.page();
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    const names = await page.locator(".card strong").allTextContents();
    await page.getByRole("button", { name: /^All \d+/ }).focus();
    await page.keyboard.press("Tab");
    expect(await focused()).toMatch(/^geo/);
    await page.keyboard.press("Tab");
    expect(await page.locator(".cards :focus").count()).toBe(0);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toContain(names[2]);
    await page.keyboard.press("End");
    expect(await focused()).toContain(names.at(-1));
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    expect(await focused()).toContain(names[0]);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".title").textContent()).toBe(names[1]);
    await page.getByRole("button", { name: /^All \d+/ }).click();
    await page.locator(".card").nth(1).focus();
    const left = () => page.evaluate(() => document.activeElement?.getBoundingClientRect().left);
    const before = await left();
    await page.keyboard.press("ArrowDown");
    expect(await focused()).not.toContain(names[1]);
    expect(await left()).toBe(before);
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toContain(names[1]);
    await page.context().close();
  });
});

/** A text with more lines than the editor shows. */
const LONG = `${Array.from({ length: 60 }, (_, at) => `# line ${at + 1}`).join("\n")}\n${PAIR}`;

describe.each([
  ["wide", { viewport: { width: 1440, height: 900 } }],
  ["on a phone", { viewport: { width: 390, height: 844 }, hasTouch: true }],
])("%s, errors cover no line", (_, options) => {
  /** Returns the bounding boxes of the line with the cursor and of elements that could cover it. */
  async function boxes(page: Page) {
    const line = page.locator(".cm-activeLine");
    const [box, host] = [await line.boundingBox(), await page.locator(".editor").boundingBox()];
    const covers = await line.evaluate((one) => {
      const { left, top, height } = one.getBoundingClientRect();
      const at = document.elementFromPoint(left + 20, top + height / 2);
      return at?.className ?? "nothing";
    });
    return { line: box, host, covers };
  }

  async function expectInView(page: Page): Promise<void> {
    await expect
      .poll(async () => {
        const { line, host, covers } = await boxes(page);
        const isInside = line && host && line.y >= host.y && line.y + line.height <= host.y + host.height;
        return { isInside, covers };
      })
      .toEqual({ isInside: true, covers: "editor" });
  }

  test("the line that is written, when they appear", async () => {
    const { page } = await studio.page(options);
    await openToml(page, LONG);
    if ((options.viewport.width ?? 0) < 900) {
      await page.getByRole("tab", { name: "Text" }).click();
    }
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("nonsense = 1\nmore = 2\neven_more = 3");
    await page.locator(".problems li.bad").nth(2).waitFor();
    await expectInView(page);
    await page.context().close();
  });

  test("the line of a selected error", async () => {
    const { page } = await studio.page(options);
    await openToml(page, LONG.replace('"20 ms"', '"20 miles"'));
    await page.locator(".problems .where").first().click();
    await expect.poll(() => page.locator(".cm-activeLine").textContent()).toContain("20 miles");
    await expectInView(page);
    await page.context().close();
  });
});

test("a text with an error opens where the error is", async () => {
  const { page } = await studio.page();
  await openToml(page, LONG.replace('"20 ms"', '"20 miles"'));
  const line = page.locator(".cm-line", { hasText: "20 miles" });
  const host = await page.locator(".editor").boundingBox();
  const problems = page.locator(".problems");
  await expect
    .poll(async () => {
      const [box, panel] = await Promise.all([line, problems].map((one) => one.boundingBox().catch(() => null)));
      return box && panel && host && box.y >= host.y && box.y + box.height <= panel.y;
    })
    .toBe(true);
  await page.context().close();
});

describe("the scenario", () => {
  test("every preset opens and is valid", async () => {
    const { page, complaints } = await studio.page();
    await page.getByRole("button", { name: /^All \d+/ }).click();
    const cards = page.locator(".card");
    const count = await cards.count();
    expect(count).toBeGreaterThan(20);
    for (let index = 0; index < count; index++) {
      const name = await cards.nth(index).locator("strong").textContent();
      await cards.nth(index).click();
      await expect.poll(() => page.locator(".title").textContent()).toBe(name);
      await expect.poll(() => text(page)).toContain(`"${name}"`);
      await expect.poll(() => page.locator(".standing").getAttribute("class")).toMatch(/good|warn/);
    }
    expect(complaints).toEqual([]);
  });

  test("the form writes into the text, and the text into the form", async () => {
    const { page, complaints } = await studio.page();
    await openToml(page, PAIR);
    await page.locator('[id="in-links[0].rate"]').fill("2 Mbit/s");
    await expect.poll(() => text(page)).toBe(PAIR.replace("10 Mbit/s", "2 Mbit/s"));
    await page.locator('[id="in-duration"]').fill("");
    await page.locator('[id="in-duration"]').fill("40 s");
    await expect.poll(() => text(page)).toContain('duration = "40 s" # long enough');
    await page.getByLabel("links[0].queue, on a logarithmic scale").press("ArrowLeft");
    await expect.poll(() => text(page)).toContain('queue = "0.97 bdp"');
    await page.getByLabel("Form of links[0].loss").selectOption({ label: "bit_error_rate" });
    await expect.poll(() => text(page)).toContain("loss = { bit_error_rate = 0.0001 }");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type('transfer = "3 MB"');
    await expect.poll(() => page.locator('[id="in-flows[0].transfer"]').inputValue()).toBe("3 MB");
    expect(complaints).toEqual([]);
  });

  test.each(BAD)("%s is shown in place", async (_, toml, path) => {
    const { page } = await studio.page();
    await openToml(page, toml);
    await page.locator(".standing.bad").waitFor();
    const listed = page.locator(".problems li.bad code");
    await expect.poll(() => listed.allInnerTexts()).toContainEqual(expect.stringContaining(path));
    await expect.poll(() => page.locator(".cm-lint-marker-error").count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test("a warning explains its cause", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR.replace("1 bdp", "2 packets"));
    const row = page.locator(".problems li.warn", { hasText: "links[0].queue" });
    await row.getByText("small-queue").click();
    expect(await row.textContent()).toContain('A queue of "1 bdp"');
    await row.getByRole("button").click();
    const chosen = () =>
      page.locator(".editor").evaluate((host) => host.shadowRoot?.querySelector(".cm-activeLine")?.textContent);
    await expect.poll(chosen).toContain("queue");
  });

  test("keys and values are completed where the cursor is", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("cong");
    // The editor ignores keys in the first moments of its list, but not clicks.
    await page
      .locator(".cm-tooltip-autocomplete")
      .getByRole("option", { name: /^congestion/ })
      .first()
      .click();
    await expect.poll(() => text(page)).toContain("congestion");
    await page.keyboard.press("Control+Space");
    await page.locator(".cm-tooltip-autocomplete").getByRole("option", { name: '"hybla"', exact: true }).click();
    await expect.poll(() => text(page)).toContain('congestion = "hybla"');
  });

  test("nodes and links are drawn", async () => {
    const { page, complaints } = await studio.page();
    await page.getByRole("tab", { name: "Drawing" }).click();
    await page.getByRole("button", { name: "Draw", exact: true }).click();
    const canvas = page.locator(".canvas");
    await canvas.locator("canvas").first().waitFor();
    const spot = async (part: number) => {
      const { x, y, width, height } = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      return [x + width / 2, y + height * part] as const;
    };
    await page.mouse.click(...(await spot(0.15)));
    await expect.poll(() => canvas.getAttribute("aria-label")).toContain("4 nodes");
    const start = await spot(0.15);
    await page.mouse.move(...start);
    await page.mouse.down();
    await page.mouse.move(start[0], start[1] + 30, { steps: 4 });
    await page.mouse.move(...(await spot(0.5)), { steps: 8 });
    await page.mouse.up();
    await expect.poll(() => text(page)).toContain('between = ["node4", "gateway"]');
    expect(complaints).toEqual([]);
  });

  test("the keyboard can do all that the drawing can", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    await page.getByRole("tab", { name: "Form" }).press("ArrowRight");
    await page.getByText("as lists").press("Enter");
    const ends = page.locator(".adder").first();
    await ends.getByLabel("From").fill("b");
    await ends.getByLabel("to").fill("c");
    await ends.getByRole("button", { name: "Add link" }).press("Enter");
    await expect.poll(() => text(page)).toContain('between = ["b", "c"]');
    const flow = page.locator(".adder").last();
    await flow.getByLabel("From").fill("a");
    await flow.getByLabel("to").fill("c");
    await flow.getByLabel("by").selectOption("bbr");
    await flow.getByRole("button", { name: "Add flow" }).press("Enter");
    await expect.poll(() => text(page)).toContain('congestion = "bbr"');
    await page.locator(".parts").getByRole("button", { name: "b", exact: true }).press("Enter");
    await page.getByLabel("Node", { exact: true }).fill("hub");
    await page.getByRole("button", { name: "Rename" }).press("Enter");
    await expect.poll(() => text(page)).toContain('between = ["hub", "c"]');
    expect(await text(page)).toContain('to = "hub"');
    await page.getByRole("button", { name: "Remove with its links and flows" }).press("Enter");
    await expect.poll(() => text(page)).not.toContain("hub");
    expect(await text(page)).toContain('to = "c"');
  });

  test("a trace is assigned to a link; an invalid one is rejected", async () => {
    const { page } = await studio.page();
    await openToml(page, PAIR);
    const give = (name: string, content: string) =>
      page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
    await give("bad.csv", "a,b\n1,2\n");
    await page.getByText("a trace has the columns time_s").waitFor();
    await give("capture.pcap", "x");
    await page.getByText(/^capture\.pcap: .*(capture|pcapng)/).waitFor();
    await give("fade.csv", "time_s,rate_bps\n0,1000000\n5,200000\n");
    await page.getByRole("dialog").getByRole("button", { name: "links[0]" }).click();
    await expect.poll(() => text(page)).toContain('trace = { file = "fade.csv" }');
    await page.locator(".standing:is(.good, .warn)").waitFor();
    await page.getByRole("button", { name: "Remove the file fade.csv" }).click();
    await page.locator(".standing.bad").waitFor();
    await give("fade.csv", "time_s,rate_bps\n0,1000000\n");
    await page.getByText("fade.csv was added to the scenario").waitFor();
    await page.locator(".standing:is(.good, .warn)").waitFor();
  });

  test("every change can be undone", async () => {
    const { page } = await studio.page();
    const first = await text(page);
    await page.locator(".card", { hasText: "dumbbell" }).first().click();
    await expect.poll(() => text(page)).toContain('kind   = "dumbbell"');
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => text(page)).toBe(first);
    await page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(() => text(page)).toContain('kind   = "dumbbell"');
  });

  test("an engine that is killed is replaced", async () => {
    const { page } = await studio.page();
    const [worker] = page.workers();
    await worker?.evaluate(() => setTimeout(() => self.close(), 0)).catch(() => undefined);
    await expect.poll(() => page.workers().length).toBe(0);
    await openToml(page, PAIR.replace("10 Mbit/s", "slow"));
    await page.locator(".standing.bad").waitFor();
    await openToml(page, PAIR);
    await page.locator(".standing:is(.good, .warn)").waitFor();
  });

  test.each([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["on a phone", { viewport: { width: 360, height: 740 }, hasTouch: true }],
  ] as const)("axe finds no violations: %s", async (_, options) => {
    const { page } = await studio.page(options);
    await openToml(page, PAIR.replace("1 bdp", "2 packets"));
    await page.locator(".standing.warn").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("tab", { name: "Drawing" }).click();
    await page.locator(".canvas canvas").first().waitFor();
    await page.getByText("as lists").click();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      page.viewportSize()?.width ?? 0,
    );
  });
});
