import { defineConfig } from "vite";
import { single } from "./src/embed/single.ts";

/** The template of the players that runs write: one file, which is stored with the sources of the Python package. */
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    outDir: "../python/lightlag/drawing",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { input: "player.html" },
  },
  plugins: [single()],
});
