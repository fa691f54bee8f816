/** Writes the worker that stores the page, when all other files have been built. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Plugin {
  name: string;
  apply: "build";
  configResolved(config: { root: string; build: { outDir: string } }): void;
  closeBundle(): void;
}

/** Returns the files of a directory as relative paths, in the same order on every machine. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.map((path) => path.slice(folder.length + 1).replaceAll("\\", "/")).sort();
}

export function offline(): Plugin {
  let folder = "";
  return {
    name: "offline",
    apply: "build",
    configResolved({ root, build }) {
      folder = join(root, build.outDir);
    },
    closeBundle() {
      const files = filesOf(folder).filter((file) => file !== "offline.js");
      const hash = createHash("sha256");
      for (const file of files) {
        hash.update(file).update(readFileSync(join(folder, file)));
      }
      const listed = ["./", ...files].map((file) => JSON.stringify(file)).join(", ");
      const source = readFileSync(new URL("worker.js", import.meta.url), "utf8");
      const worker = source.replace("__VERSION__", hash.digest("hex").slice(0, 16)).replace('"__FILES__"', listed);
      writeFileSync(join(folder, "offline.js"), worker);
    },
  };
}
