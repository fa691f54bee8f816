/** Menu of the items that can be saved: the scenario, a run of it, a comparison, figures. */

import { useSignal } from "@preact/signals";
import { about, isSound, scenarioInput, seed, title } from "../app/state.ts";
import type { Account } from "../engine/analysis.ts";
import { download, type NamedFile } from "./download.ts";
import {
  capturesFile,
  comparisonDataFile,
  comparisonReportFile,
  dataFile,
  figureFile,
  runReportFile,
  scenarioFile,
} from "./files.ts";
import "./save.css";
import { comparison, figures } from "./there.ts";
import { type WholeRun, wholeRun } from "./whole.ts";

interface Item {
  name: string;
  says: string;
  make: (signal: AbortSignal) => Promise<NamedFile> | NamedFile;
}

interface Group {
  name: string;
  items: Item[];
}

interface Props {
  /** Returns the reason for the speed of a run. */
  account?: (run: WholeRun) => Account;
}

export function SaveMenu({ account }: Props) {
  const doing = useSignal<{ name: string; ends: AbortController } | undefined>(undefined);
  const said = useSignal("");
  const save = async ({ name, make }: Item) => {
    if (doing.peek()) {
      return;
    }
    const ends = new AbortController();
    doing.value = { name, ends };
    said.value = `${name} …`;
    try {
      const file = await make(ends.signal);
      download(file);
      said.value = `${file.name} is saved.`;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      said.value = ends.signal.aborted ? "Cancelled." : `Not saved: ${why}`;
    } finally {
      doing.value = undefined;
    }
  };
  return (
    <>
      <button type="button" popoverTarget="save" aria-haspopup="dialog">
        Save
      </button>
      {/* It takes the focus itself, so that screen readers announce it; Escape returns the focus to the button. */}
      <div id="save" class="save" popover="auto" role="dialog" aria-label="Save" tabIndex={-1} autofocus>
        {groups(account).map(({ name, items }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            {items.map((item) => (
              <button
                type="button"
                key={`${item.name} ${item.says}`}
                // A button that is disabled while it works would lose the focus.
                aria-disabled={doing.value !== undefined}
                disabled={item.name !== "Scenario" && !isSound.value}
                onClick={() => void save(item)}
              >
                <span>{item.name}</span>
                <span class="quiet">{item.says}</span>
              </button>
            ))}
          </section>
        ))}
        <p class="outcome" role="status">
          {said}
        </p>
        {doing.value && (
          <button type="button" onClick={() => doing.value?.ends.abort()}>
            Cancel
          </button>
        )}
      </div>
    </>
  );
}

function groups(account: Props["account"]): Group[] {
  const run = (signal: AbortSignal, captures = false) =>
    wholeRun(scenarioInput(), { seed: seed.value, captures, signal });
  const dictionary = () => about.value?.dictionary ?? [];
  const found: Group[] = [
    {
      name: "Scenario",
      items: [{ name: "Scenario", says: "TOML", make: () => scenarioFile(title.value, scenarioInput()) }],
    },
    {
      name: "Complete run",
      items: [
        { name: "Report", says: "HTML", make: async (signal) => ofRun(await run(signal), account) },
        { name: "Tables", says: "CSV", make: async (signal) => dataFile(await run(signal), dictionary(), "csv") },
        {
          name: "Tables",
          says: "Parquet",
          make: async (signal) => dataFile(await run(signal), dictionary(), "parquet"),
        },
        { name: "Captures", says: "pcapng", make: async (signal) => capturesFile(await run(signal, true)) },
      ],
    },
  ];
  const compared = comparison.value;
  if (compared) {
    found.push({
      name: "Comparison",
      items: [
        { name: "Report", says: "HTML", make: () => comparisonReportFile(compared()) },
        { name: "Runs", says: "CSV", make: () => comparisonDataFile(compared(), "csv") },
        { name: "Runs", says: "Parquet", make: () => comparisonDataFile(compared(), "parquet") },
      ],
    });
  }
  const drawn = figures.value?.() ?? [];
  if (drawn.length > 0) {
    const items = drawn.flatMap((figure): Item[] => [
      { name: figure.title, says: "SVG", make: () => figureFile(title.value, figure, "svg") },
      { name: figure.title, says: "PNG", make: () => figureFile(title.value, figure, "png") },
    ]);
    found.push({ name: "Figures", items });
  }
  return found;
}

function ofRun(run: WholeRun, account: Props["account"]): Promise<NamedFile> {
  return runReportFile(run, account?.(run));
}
