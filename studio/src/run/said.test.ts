import { expect, test } from "vitest";
import type { Summary } from "../engine/protocol.ts";
import { ending } from "./said.ts";

const summary = { simulated_s: 19.99956 } as Summary;
const account = { headline: "a->b reached 9.6 Mbit/s: its path was full.", flows: [] };

test("a finished run announces its time and the reason for its speed", () => {
  expect(ending({ summary, account })).toBe("The run is over after 20 s. a->b reached 9.6 Mbit/s: its path was full.");
});

test("a failed run announces the reason", () => {
  expect(ending({ summary, account, failed: "no memory is left" })).toMatch(
    /^The run failed: no memory is left\. a->b/,
  );
});
