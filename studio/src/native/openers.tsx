import type { Entry } from "./api.ts";
import { openReport, said } from "./machine.ts";
import { openScenario } from "./opening.ts";

interface Opened {
  entry: Pick<Entry, "place" | "name">;
  hasReport: boolean;
  hasScenario: boolean;
  /** Called with the reason why an entry was not opened, and with an empty text at a new attempt. */
  fail: (why: string) => void;
}

/** The buttons that open the report and the scenario of an entry. */
export function Openers({ entry, hasReport, hasScenario, fail }: Opened) {
  const attempt = (what: Promise<unknown>) => {
    fail("");
    what.catch((error: unknown) => fail(said(error)));
  };
  return (
    <>
      {hasReport && (
        <button type="button" aria-label={`Report of ${entry.name}`} onClick={() => attempt(openReport(entry))}>
          Report
        </button>
      )}
      {hasScenario && (
        <button type="button" aria-label={`Scenario of ${entry.name}`} onClick={() => attempt(openScenario(entry))}>
          Scenario
        </button>
      )}
    </>
  );
}
