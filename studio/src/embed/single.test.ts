import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { inOne } from "./single.ts";

const STUDIO = fileURLToPath(new URL("../../", import.meta.url));
const KEPT = new URL("../../../python/lightlag/drawing/player.html", import.meta.url);

/** Timeout of the build in milliseconds, long enough for any machine. */
const LONG = 300_000;

test("a page contains its script and its style sheet, and its policy has their hashes", () => {
  const page = `<meta content="script-src __SCRIPT__; style-src __STYLE__">
    <script type="module" crossorigin src="./a.js"></script>
    <link rel="stylesheet" crossorigin href="./a.css">
  </body>`;
  const one = inOne(page, 'say("</script>$&");', "p{color:red}\n");
  expect(one).not.toMatch(/src=|href=/);
  const [, style] = /<style>(.*?)<\/style>/.exec(one) ?? [];
  const [, script] = /<script type="module">(.*?)<\/script>/.exec(one) ?? [];
  expect([style, script]).toEqual(["p{color:red}", 'say("<\\/script>$&");']);
  for (const text of [style, script]) {
    expect(one).toContain(`'sha256-${createHash("sha256").update(String(text)).digest("base64")}'`);
  }
});

test(
  "the template in the Python package is built from these sources by npm run player",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "player-"));
    const { NODE_ENV: _, ...env } = process.env;
    await promisify(execFile)("npm", ["run", "--silent", "player", "--", "--outDir", folder], { cwd: STUDIO, env });
    const made = await readFile(join(folder, "player.html"), "utf8");
    await rm(folder, { recursive: true });
    // A diff of the complete files would be too long to read.
    expect(made === (await readFile(KEPT, "utf8"))).toBe(true);
  },
  LONG,
);
