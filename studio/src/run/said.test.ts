import { expect, test } from "vitest";
import type { Summary } from "./messages.ts";
import { ending } from "./said.ts";

const summary = { simulated_s: 19.99956 } as Summary;
const account = { headline: "a->b reached 9.6 Mbit/s: its path was full.", flows: [] };

test("a run that is over tells its time and why it was slow", () => {
  expect(ending({ summary, account })).toBe("The run is over after 20 s. a->b reached 9.6 Mbit/s: its path was full.");
});

test("a run that failed tells why", () => {
  expect(ending({ summary, account, failed: "no memory is left" })).toMatch(
    /^The run failed: no memory is left\. a->b/,
  );
});
