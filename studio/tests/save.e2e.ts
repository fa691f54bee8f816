import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { strFromU8, unzipSync } from "fflate";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Studio } from "./browser.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const python = process.env.PYTHON ?? here("../../.venv/bin/python");
const engine = here("../../python/lightlag/_engine.abi3.so");

let studio: Studio;
let folder: string;

beforeAll(async () => {
  studio = await Studio.open();
  folder = await mkdtemp(join(tmpdir(), "lightlag-"));
});

afterAll(async () => {
  await studio.close();
  await rm(folder, { recursive: true });
});

/** Returns the name and path of the file that a button of the menu saves. */
async function saved(page: Page, group: string, name: string): Promise<{ name: string; path: string }> {
  const menu = page.getByRole("dialog", { name: "Save", exact: true });
  if (!(await menu.isVisible())) {
    await page.getByRole("button", { name: "Save", exact: true }).click();
  }
  const waiting = page.waitForEvent("download");
  await menu.getByRole("region", { name: group }).getByRole("button", { name, exact: true }).click();
  const file = await waiting;
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return { name: file.suggestedFilename(), path };
}

/** Opens a saved report in a browser without the studio; returns it with the errors that the browser reports. */
async function report(path: string): Promise<{ page: Page; complaints: string[] }> {
  const { page } = await studio.page();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("request", (request) => complaints.push(...(request.url().startsWith("file:") ? [] : [request.url()])));
  await page.goto(`file://${path}`);
  await page.locator(".panel > svg").first().waitFor();
  return { page, complaints };
}

const SCRIPT = `
import io, sys, zipfile
import polars as pl
from polars.testing import assert_frame_equal
import lightlag as ll
ll.run("geo", seed=1).save(sys.argv[3])
parquet, csv = (zipfile.ZipFile(path) for path in sys.argv[1:3])
tables = [name.removesuffix(".parquet") for name in parquet.namelist() if name.endswith(".parquet")]
for name in tables:
    ours = pl.read_parquet(f"{sys.argv[3]}/{name}.parquet").with_columns(pl.col(pl.Categorical).cast(pl.String))
    assert_frame_equal(pl.read_parquet(io.BytesIO(parquet.read(f"{name}.parquet"))), ours, check_exact=True)
    if ours.height:
        assert_frame_equal(pl.read_csv(io.BytesIO(csv.read(f"{name}.csv")), schema=ours.schema), ours, check_exact=True)
print(",".join(tables))
`;

describe("saving", () => {
  test("tables are identical to a results directory, as CSV and as Parquet", async () => {
    const { page, complaints } = await studio.page();
    const csv = await saved(page, "Complete run", "Tables CSV");
    const parquet = await saved(page, "Complete run", "Tables Parquet");
    const names = Object.keys(unzipSync(await readFile(parquet.path)));
    expect(names).toEqual([
      "flows.parquet",
      "links.parquet",
      "trace.parquet",
      "queue.parquet",
      "drops.parquet",
      "summary.json",
    ]);
    const flows = unzipSync(await readFile(csv.path))["flows.csv"] as Uint8Array;
    expect(strFromU8(flows)).toMatch(/^name,from,to,congestion,.*\nclient->server,client,server,cubic,/);
    expect(complaints).toEqual([]);
    if (existsSync(python) && existsSync(engine)) {
      const options = { env: { ...process.env, PYTHONPATH: here("../../python") } };
      const args = ["-c", SCRIPT, parquet.path, csv.path, join(folder, "geo")];
      expect(execFileSync(python, args, options).toString().trim()).toBe("flows,links,trace,queue,drops");
    }
  });

  test("captures are pcapng files of both endpoints", async () => {
    const { page } = await studio.page();
    const { path, name } = await saved(page, "Complete run", "Captures pcapng");
    expect(name).toBe("geo-seed-1-captures.zip");
    const files = unzipSync(await readFile(path));
    expect(Object.keys(files)).toEqual(["client.pcapng", "server.pcapng"]);
    expect([...(files["client.pcapng"]?.slice(0, 4) ?? [])]).toEqual([0x0a, 0x0d, 0x0d, 0x0a]);
  });

  test("the scenario is saved as its text", async () => {
    const { page } = await studio.page();
    const { path, name } = await saved(page, "Scenario", "Scenario TOML");
    expect(name).toBe("geo.toml");
    expect(await readFile(path, "utf8")).toBe(await readFile(here("../../scenarios/geo.toml"), "utf8"));
  });

  test("the report of a run is self-contained", async () => {
    const { page } = await studio.page();
    const { path } = await saved(page, "Complete run", "Report HTML");
    const { page: open, complaints } = await report(path);
    await open.getByRole("heading", { name: "Congestion window" }).waitFor();
    expect(await open.locator(".panel > svg").count()).toBeGreaterThanOrEqual(5);
    await open.getByText(/^[0-9a-f]{32}$/).waitFor();
    expect(complaints).toEqual([]);
  });

  test("the report of a run over radios has tables of media and radios", async () => {
    const { page } = await studio.page();
    await page.locator("input[type=file]").first().setInputFiles(here("../../scenarios/adhoc-chain.toml"));
    await page.getByText("adhoc-chain.toml is now the scenario").waitFor();
    const { path } = await saved(page, "Complete run", "Report HTML");
    const { page: open, complaints } = await report(path);
    for (const title of ["Flows", "Media", "Radios"]) {
      await open.getByRole("heading", { name: title, exact: true }).waitFor();
    }
    await open.getByRole("columnheader", { name: "route changes" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("a comparison is saved as a report, a table and figures", async () => {
    const { page } = await studio.page();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Seeds").fill("3");
    await page.getByLabel("Seeds").blur();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("12 of 12 runs").waitFor();
    const headline = await page.locator(".headline").textContent();
    const { path } = await saved(page, "Comparison", "Report HTML");
    const runs = await saved(page, "Comparison", "Runs CSV");
    const svg = await saved(page, "Figures", "Goodput SVG");
    const png = await saved(page, "Figures", "Goodput PNG");
    const windows = await saved(page, "Figures", "cwnd of hybla (segments, seed 1) SVG");
    expect((await readFile(windows.path, "utf8")).match(/<path /g)).toHaveLength(1);
    expect((await readFile(runs.path, "utf8")).split("\n")).toHaveLength(14);
    expect(await readFile(svg.path, "utf8")).toMatch(/^<svg .*>newreno<\/text>/s);
    expect((await readFile(png.path)).subarray(1, 4).toString()).toBe("PNG");
    const { page: open, complaints } = await report(path);
    expect(await open.locator(".headline").textContent()).toBe(headline);
    for (const title of ["All metrics", "Goodput over time", "Congestion windows over time", "Algorithms"]) {
      await open.getByRole("heading", { name: title }).waitFor();
    }
    await open.getByRole("img", { name: /^Congestion window of hybla, seed 1: up to/ }).waitFor();
    expect(await open.locator("#goodput .panel path").count()).toBeGreaterThanOrEqual(4);
    expect(complaints).toEqual([]);
  });

  test("a run that cannot start gives the reason", async () => {
    const { page } = await studio.page();
    const toml = join(folder, "wrong.toml");
    await writeFile(toml, 'name = "wrong"\nduration = "soon"\n');
    await page.locator("input[type=file]").setInputFiles(toml);
    await page.locator(".standing.bad").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const menu = page.getByRole("region", { name: "Complete run" });
    expect(await menu.getByRole("button", { name: "Report HTML" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Scenario TOML" }).isEnabled()).toBe(true);
  });
});
