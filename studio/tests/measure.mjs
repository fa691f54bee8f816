/** Measures in Chromium for benchmarks/studio: a line of JSON when the page is of use, and one for each line that it is given. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const ROOT = new URL("../../", import.meta.url);
const DIST = new URL("dist/studio/", ROOT);
const TYPES = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  svg: "image/svg+xml",
  wasm: "application/wasm",
};
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
];

const server = createServer((request, response) => {
  const path = new URL(request.url, "http://page").pathname.slice(1) || "index.html";
  try {
    response
      .setHeader("content-type", TYPES[path.replace(/^.*\./, "")] ?? "text/plain")
      .end(readFileSync(new URL(path, DIST)));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
const page = await (await browser.newContext({ serviceWorkers: "block" })).newPage();
const files = new Set();
page.on("response", (response) => files.add(new URL(response.url()).pathname.slice(1) || "index.html"));
const start = performance.now();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.locator(".standing:is(.good, .warn)").waitFor();
const checked_ms = performance.now() - start;
await page.waitForLoadState("networkidle");
const sizes = [...files].map((file) => gzipSync(readFileSync(new URL(file, DIST)), { level: 9 }).length);
console.log(JSON.stringify({ checked_ms, gzip_bytes: sizes.reduce((sum, size) => sum + size, 0) }));

const texts = {
  dumbbell: readFileSync(new URL("benchmarks/scenarios/dumbbell-8.toml", ROOT), "utf8"),
  geo: readFileSync(new URL("scenarios/geo.toml", ROOT), "utf8"),
};
for await (const _ of createInterface({ input: process.stdin })) {
  const told = await page.evaluate(async ({ dumbbell, geo }) => {
    globalThis.engine ??= (await WebAssembly.instantiateStreaming(fetch("engine.wasm"), {})).instance.exports;
    const { memory, room, ask, done } = globalThis.engine;
    const answer = (request) => {
      const bytes = new TextEncoder().encode(JSON.stringify(request));
      const place = room(bytes.length);
      new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
      const at = ask(place, bytes.length);
      const length = new DataView(memory.buffer).getUint32(at + 8, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, at + 12, length)));
      done(at);
      return head;
    };
    const timed = (toml) => {
      const { run } = answer({ op: "start", toml });
      const start = performance.now();
      answer({ op: "step", run, until_s: 1e9 });
      const ms = performance.now() - start;
      return { ms, hops: answer({ op: "finish", run }).summary.packet_hops };
    };
    const many = timed(dumbbell);
    return { hops_per_s: many.hops / (many.ms / 1e3), geo_ms: timed(geo).ms };
  }, texts);
  console.log(JSON.stringify(told));
}
await browser.close();
server.close();
