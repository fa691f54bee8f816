import { defineConfig } from "vitest/config";
import { offline } from "./src/offline/build.ts";

export default defineConfig({
  // The page works in any directory, so every address in it is relative.
  base: "./",
  build: {
    outDir: "../dist/studio",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { index: "index.html", embed: "embed.html", "lightlag-run": "src/share/element.ts" },
      // Pages elsewhere name the file of the element, so its name stays.
      output: { entryFileNames: ({ name }) => (name === "lightlag-run" ? "[name].js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [offline()],
  worker: { format: "es" },
  // The presets are stored next to the studio's directory.
  server: { fs: { allow: [".."] } },
  test: {
    include: ["src/**/*.test.ts", "tests/unit/**/*.test.ts"],
    setupFiles: "tests/setup.ts",
    environment: "node",
  },
});
