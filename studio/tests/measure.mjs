/**
 * Measures in Chromium for benchmarks/studio. It prints a line of JSON when the page is of use, and one for each line of
 * JSON that it is given: `{ toml }` runs a scenario in the engine, `{ toml, panel }` watches an animation of its run.
 * Times are CPU time of the page's main thread where the name ends in `cpu_ms`.
 */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { DIST, served } from "./served.mjs";

/** Seconds for which an animation is watched. */
const WATCHED = 6;

const { browser, address, close } = await served();
const session = await browser.newBrowserCDPSession();
const page = await (await browser.newContext({ serviceWorkers: "block" })).newPage();
const files = new Set();
page.on("response", (response) => files.add(new URL(response.url()).pathname.slice(1) || "index.html"));
const start = performance.now();
await page.goto(address);
await page.locator(".start .headline").waitFor();
const checked_ms = performance.now() - start;
await page.waitForLoadState("networkidle");
const sizes = [...files].map((file) => gzipSync(readFileSync(new URL(file, DIST)), { level: 9 }).length);
console.log(JSON.stringify({ checked_ms, gzip_bytes: sizes.reduce((sum, size) => sum + size, 0) }));

/** Returns the CPU time of the main thread of each renderer, in milliseconds. */
async function clocks() {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => {
      const [time] = readFileSync(`/proc/${id}/task/${id}/schedstat`, "utf8").split(" ");
      return [id, Number(time) / 1e6];
    });
}

/** Runs a scenario in the engine. */
async function engine(toml) {
  const run = await page.evaluate(async (toml) => {
    globalThis.engine ??= (await WebAssembly.instantiateStreaming(fetch("engine.wasm"), {})).instance.exports;
    const { memory, room, ask, done } = globalThis.engine;
    globalThis.answer = (request) => {
      const bytes = new TextEncoder().encode(JSON.stringify(request));
      const place = room(bytes.length);
      new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
      const at = ask(place, bytes.length);
      const length = new DataView(memory.buffer).getUint32(at + 8, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, at + 12, length)));
      done(at);
      return head;
    };
    return globalThis.answer({ op: "start", toml }).run;
  }, toml);
  const before = new Map(await clocks());
  const wall_ms = await page.evaluate((run) => {
    const start = performance.now();
    globalThis.answer({ op: "step", run, until_s: 1e9 });
    return performance.now() - start;
  }, run);
  const cpu_ms = Math.max(...(await clocks()).map(([id, time]) => time - (before.get(id) ?? time)));
  const hops = await page.evaluate((run) => globalThis.answer({ op: "finish", run }).summary.packet_hops, run);
  return { cpu_ms, wall_ms, hops };
}

/** Watches an animation of a run at a speed, in seconds of the run per second. */
async function frames({ toml, panel, speed, size = [1280, 800], scheme = "light", toggle }) {
  const [width, height] = size;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  await page.goto(`${address}?view=scenario`);
  await page.locator(".standing:is(.good, .warn)").waitFor();
  const buffer = Buffer.from(toml);
  await page.locator("input[type=file]").first().setInputFiles({ name: "a.toml", mimeType: "text/plain", buffer });
  await page.getByText("a.toml is now the scenario").waitFor();
  await page.getByRole("link", { name: "Run", exact: true }).click();
  const pictures = page.getByRole("group", { name: "Animation" });
  const button = pictures.getByRole("button", { name: panel, exact: true });
  if ((await button.getAttribute("aria-pressed")) !== "true") {
    await button.click();
  }
  if (toggle) {
    await page.getByText(toggle, { exact: true }).click();
  }
  if (speed !== undefined) {
    await page.getByRole("combobox", { name: "Speed" }).selectOption(String(speed));
    await page.getByRole("button", { name: "Restart" }).click();
  }
  await page.waitForTimeout(3000);
  const traced = await browser.newBrowserCDPSession();
  const events = [];
  traced.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const over = new Promise((done) => traced.on("Tracing.tracingComplete", done));
  const categories = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"];
  await traced.send("Tracing.start", { traceConfig: { includedCategories: categories } });
  await page.waitForTimeout(WATCHED * 1000);
  await traced.send("Tracing.end");
  await over;
  await context.close();
  return figures(events);
}

/** Returns frames per second, and CPU time of the main thread per frame: of scripts at a frame, and of all tasks. */
function figures(events) {
  const byThread = Map.groupBy?.(events, thread) ?? grouped(events);
  const fires = ({ name }) => name === "FireAnimationFrame";
  const [main = []] = [...byThread.values()].sort((a, b) => b.filter(fires).length - a.filter(fires).length);
  const calls = main.filter(fires);
  const sum = (some) => some.reduce((all, { tdur = 0 }) => all + tdur, 0) / 1e3;
  const frames = new Set(calls.map(({ args }) => Math.round((args.frame_time ?? 0) / 1))).size;
  const painted = main.filter(({ name }) => name === "Commit").length || frames;
  const span_s = (Math.max(...calls.map(({ ts }) => ts)) - Math.min(...calls.map(({ ts }) => ts))) / 1e6;
  const tasks = main.filter(({ name }) => name === "ThreadControllerImpl::RunTask");
  const per = (some) => sum(some) / painted;
  const each = {};
  for (const { name, tdur = 0 } of main) {
    each[name] = (each[name] ?? 0) + tdur / 1e3 / painted;
  }
  const top = Object.entries(each)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(([name, ms]) => [name, Number(ms.toFixed(3))]);
  return { frames_per_s: painted / span_s, script_cpu_ms: per(calls), task_cpu_ms: per(tasks), top };
}

function thread({ pid, tid }) {
  return `${pid} ${tid}`;
}

function grouped(events) {
  const found = new Map();
  for (const event of events) {
    found.has(thread(event)) || found.set(thread(event), []);
    found.get(thread(event)).push(event);
  }
  return found;
}

for await (const line of createInterface({ input: process.stdin })) {
  const wanted = JSON.parse(line);
  console.log(JSON.stringify(wanted.panel ? await frames(wanted) : await engine(wanted.toml)));
}
await close();
