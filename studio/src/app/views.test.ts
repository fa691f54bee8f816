import { expect, test } from "vitest";
import { views } from "./views.ts";

test("every view loads a component", async () => {
  for (const { key, load } of views) {
    expect(typeof (await load()).default, key).toBe("function");
  }
});
