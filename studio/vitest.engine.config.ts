import { defineConfig } from "vitest/config";

/** Compares the engine of the page with the native one: `make test-studio` builds both. */
export default defineConfig({
  test: { include: ["tests/engine/**/*.test.ts"], environment: "node" },
});
