/** The built page on a port of this machine, and Chromium with WebGL drawn by the CPU, for measurements and screenshots. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

export const ROOT = new URL("../../", import.meta.url);
export const DIST = new URL("dist/studio/", ROOT);
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
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

/** Returns a browser, the address of the page, and a function that ends both. */
export async function served() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://page").pathname.slice(1) || "index.html";
    try {
      const content = readFileSync(new URL(path, DIST));
      response.setHeader("content-type", TYPES[path.replace(/^.*\./, "")] ?? "text/plain").end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { browser, address: `http://127.0.0.1:${server.address().port}/`, close };
}
