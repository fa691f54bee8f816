/** Variants side by side. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { compareCommand, Repeat } from "../app/command.tsx";
import { Prose } from "../app/name.tsx";
import { scenarioInput, seeds, startsItself, title, variants } from "../app/state.ts";
import { tell } from "../app/told.tsx";
import * as there from "../save/there.ts";
import { answer } from "./answer.ts";
import "./compare.css";
import {
  campaign,
  canRun,
  comparison,
  firstSeed,
  isFixed,
  MOST_SEEDS,
  offered,
  offeredKeys,
  progress,
  run,
  start,
  watch,
} from "./course.ts";
import { Dots } from "./dots.tsx";
import { figuresOf, reported } from "./report.ts";
import { Differences, Table } from "./table.tsx";
import { Timeline } from "./timeline.tsx";
import { Variants } from "./variants.tsx";

export default function CompareView() {
  useSignalEffect(() => watch());
  useSignalEffect(() => {
    if (offered.value.length > 0) {
      start();
    }
  });
  useSignalEffect(() => {
    if (startsItself.value && canRun.value) {
      startsItself.value = false;
      void run();
    }
  });
  useSignalEffect(() => {
    const isThere = comparison.value.contenders.length > 0;
    there.comparison.value = isThere ? reported : undefined;
    there.figures.value = isThere ? figuresOf : undefined;
    return () => {
      there.figures.value = undefined;
    };
  });
  const found = comparison.value;
  return (
    <div class="compare">
      <Variants />
      <datalist id="all-keys">
        {offeredKeys.value.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <Bar />
      <Words />
      {found.contenders.length > 0 && (
        <>
          <Repeat
            make={() => {
              const own = scenarioInput();
              return progress.value.done > 0
                ? compareCommand(own, variants.value, isFixed.value ? undefined : seeds.value)
                : undefined;
            }}
          />
          <section class="panel results" aria-label="Results">
            <Table comparison={found} planned={seeds.value} />
            <div class="charts">
              {found.columns.map((measure) => (
                <Dots key={measure.title} comparison={found} measure={measure} />
              ))}
            </div>
            <p class="quiet note">
              Dots are means, lines are 95 % intervals (Student t), and small rings are single runs.
            </p>
          </section>
          <Timeline />
          <div class="panel results">
            <Differences comparison={found} />
          </div>
        </>
      )}
    </div>
  );
}

function Bar() {
  const { done, all } = progress.value;
  const isRunning = campaign.isRunning.value;
  return (
    <div class="steering">
      <label for="seeds">Seeds</label>
      <input
        id="seeds"
        type="number"
        min="1"
        max={MOST_SEEDS}
        value={seeds.value}
        disabled={isFixed.value}
        // Immediate, so that a re-render does not restore the old number.
        onInput={(event) => {
          const wanted = event.currentTarget.valueAsNumber;
          if (Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST_SEEDS) {
            seeds.value = wanted;
          }
        }}
        onBlur={(event) => {
          event.currentTarget.value = String(seeds.value);
        }}
      />
      <span class="quiet">
        {isFixed.value
          ? "Nothing in this scenario is random: each variant runs once."
          : `the same for each variant, starting at ${firstSeed.value}`}
      </span>
      {isRunning ? (
        <button type="button" onClick={() => campaign.cancel()}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="primary"
          // A button that is disabled by its own work would lose the focus.
          aria-disabled={!canRun.value || done >= all}
          onClick={() => canRun.peek() && done < all && void run()}
        >
          {done === 0 ? "Compare" : done < all ? "Resume" : "Compared"}
        </button>
      )}
      <progress max={all} value={done} aria-label={`${done} of ${all} runs`} />
      <span class="count">
        {done} of {all} runs
      </span>
      {campaign.again.value > 0 && (
        <span class="quiet">
          {campaign.again.value} repeated, because {campaign.again.value === 1 ? "its worker" : "their workers"} stopped
        </span>
      )}
    </div>
  );
}

/** The conclusion in sentences, announced when all runs have finished. */
function Words() {
  const said = answer(comparison.value);
  const names = comparison.value.contenders.map(({ name }) => name);
  const isOver = !campaign.isRunning.value;
  const wasRunning = useRef(!isOver);
  useEffect(() => {
    const { done, all } = progress.peek();
    if (isOver && wasRunning.current) {
      tell(`${done === all ? `All ${all}` : `${done} of ${all}`} runs have finished. ${said?.headline ?? ""}`);
    }
    wasRunning.current = !isOver;
  }, [isOver]);
  return (
    <section class="answer panel" aria-label="Conclusion">
      {said ? (
        <>
          <p class="headline">
            <Prose text={said.headline} names={names} />
          </p>
          {said.sentences.length > 0 && (
            <ul>
              {said.sentences.map((sentence) => (
                <li key={sentence}>
                  <Prose text={sentence} names={names} />
                </li>
              ))}
            </ul>
          )}
          {!isOver && <p class="quiet">Preliminary: runs are still in progress.</p>}
        </>
      ) : (
        <p class="quiet">
          The variants of {title.value} run with the same seeds, so that all of them are subject to the same randomness.
          The conclusion appears here when the first runs have finished.
        </p>
      )}
    </section>
  );
}
