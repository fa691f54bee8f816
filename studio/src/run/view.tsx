import "./run.css";
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Lazy } from "../app/lazy.tsx";
import { Name, Prose } from "../app/name.tsx";
import { checked, isSound, live, startsItself } from "../app/state.ts";
import * as there from "../save/there.ts";
import { keepChosen } from "./chosen.ts";
import { Controls, onKey } from "./controls.tsx";
import { saved } from "./figures.ts";
import { savedLoad } from "./loads.ts";
import { prepare } from "./open.ts";
import { Pictures } from "./pictures.tsx";
import { isStale, isStarting, refusal, run } from "./running.ts";
import { keepSaid } from "./said.ts";
import { Side } from "./side.tsx";
import { Causes } from "./why/causes.tsx";

const charts = () => import("./charts.tsx");
const waterfall = () => import("./waterfall.tsx");

/** A live run of the scenario: controls, its animation with the answer next to it, and its charts. */
export default function RunView() {
  useEffect(() => {
    const end = keepChosen();
    const endSaid = keepSaid();
    there.figures.value = () => [...saved(), ...savedLoad()];
    document.addEventListener("keydown", onKey);
    const endReady = effect(() => {
      if (live.value?.result.value) {
        setTimeout(prepare, 500);
      }
    });
    const endLinks = effect(() => {
      if (startsItself.value) {
        startsItself.value = false;
        void run();
      }
    });
    if (!isStarting.peek() && (!live.peek() || isStale.peek())) {
      void run();
    }
    return () => {
      end();
      endSaid();
      endReady();
      endLinks();
      there.figures.value = undefined;
      document.removeEventListener("keydown", onKey);
    };
  }, []);
  return (
    <div class="run">
      <Controls />
      <Faults />
      <div class="columns">
        <div class="seen">{live.value && <Pictures live={live.value} />}</div>
        <Why />
        <div class="middle">
          <Lazy name="The charts" load={charts} />
          {(live.value?.result.value?.pages.length ?? 0) > 0 && <Lazy name="The waterfall" load={waterfall} />}
        </div>
        <Side />
      </div>
    </div>
  );
}

function Faults() {
  const now = live.value;
  const fault = refusal.value || now?.fault.value;
  if (!fault && !isStarting.value && !now && checked.value && !isSound.value) {
    return <p class="fault">The scenario has errors.</p>;
  }
  return fault ? (
    <Fault>
      {fault}.{" "}
      <button type="button" onClick={() => void run()}>
        Start again
      </button>
    </Fault>
  ) : null;
}

/** The reason for the speed, as text. */
function Why() {
  const run = live.value;
  const account = run?.result.value?.account;
  if (!run || !account) {
    return (
      <section class="why panel" aria-labelledby="why">
        <h2 id="why">Why is it slow?</h2>
        <p class="quiet">The answer appears here when the run is over.</p>
      </section>
    );
  }
  const { flows, links, nodes } = run.started;
  const names = [...flows, ...links, ...nodes];
  return (
    <section class="why panel" aria-labelledby="why">
      <h2 id="why">Why is it slow?</h2>
      <p class="headline">
        <Prose text={account.headline} names={names} />
      </p>
      {account.flows.map(([name, sentences], at) => (
        <details key={name} open={at === 0}>
          <summary>
            <Name name={name} />
          </summary>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>
                <Prose text={sentence} names={names} />
              </li>
            ))}
          </ul>
        </details>
      ))}
      <Causes live={run} />
    </section>
  );
}
