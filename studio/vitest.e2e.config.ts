import { defineConfig } from "vitest/config";

/** The built page in a browser: `npm run build` comes first. */
export default defineConfig({
  test: {
    include: ["tests/**/*.e2e.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
