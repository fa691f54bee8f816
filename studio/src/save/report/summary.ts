/** A run's summary in the form of reports, with every table. */

import type { Summary } from "../../engine/protocol.ts";
import type { Summed } from "../../engine/results.gen.ts";
import type { WholeRun } from "../whole.ts";

export function summaryOf(run: Pick<WholeRun, "summary">): Summary & Summed {
  return { legs: [], proxies: [], tunnels: [], interfaces: [], ...run.summary };
}
