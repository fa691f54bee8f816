import { defineConfig } from "vitest/config";

/** The engine of the page beside the native one: `make test-studio` builds both. */
export default defineConfig({
  test: { include: ["tests/engine/**/*.test.ts"], environment: "node" },
});
