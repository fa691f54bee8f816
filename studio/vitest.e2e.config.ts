import { defineConfig } from "vitest/config";

/** Files that draw with WebGL, which takes all cores without a graphics card: they run one at a time. */
const DRAWING = ["tests/{hearing,moving,names}.e2e.ts"];

const COMMON = {
  environment: "node",
  // Guards against hanging only; nothing is measured.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/** The built page in a browser: `npm run build` comes first. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: "views",
          include: ["tests/**/*.e2e.ts"],
          exclude: DRAWING,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...COMMON, name: "drawing", include: DRAWING, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
