import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Locked {
  version?: string;
  resolved?: string;
  license?: string;
  integrity?: string;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"));
const locked = Object.entries(read("package-lock.json").packages as Record<string, Locked>).filter(
  ([path]) => path !== "",
);

/** Licences that are allowed for packages in the page, which itself is under the MIT licence. */
const ALLOWED = new Set([
  "MIT",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "MPL-2.0",
  "0BSD",
  "MIT OR Apache-2.0",
]);

test("each package has a licence that the page may use", () => {
  expect(locked.filter(([, { license }]) => !ALLOWED.has(license ?? "none")).map(([path]) => path)).toEqual([]);
});

test("packages are pinned by their content, and come from wherever the registry is", () => {
  expect(locked.filter(([, { integrity }]) => !integrity).map(([path]) => path)).toEqual([]);
  expect(locked.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([]);
});

test("versions are exact", () => {
  const { dependencies, devDependencies } = read("package.json");
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
});
