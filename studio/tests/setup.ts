/** Gives unit tests an engine for analyses. If it is not built, tests that use it are skipped. */

import { existsSync, readFileSync } from "node:fs";
import { beforeEach, type TestContext } from "vitest";
import { analyseWith } from "../src/engine/analysis.ts";
import { Instance } from "../src/engine/wasm.ts";

const ENGINE = new URL("../public/engine.wasm", import.meta.url);

if (existsSync(ENGINE)) {
  analyseWith(await Instance.of(new WebAssembly.Module(readFileSync(ENGINE))));
} else {
  beforeEach((context: TestContext) => {
    analyseWith({ ask: () => context.skip("public/engine.wasm is not built") });
  });
}
