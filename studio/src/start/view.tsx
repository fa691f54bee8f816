/** The first screen: a network with packets in transit, two choices, and the answer in words. */

import "./start.css";
import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Repeat, runCommand } from "../app/command.tsx";
import { Fault } from "../app/fault.tsx";
import { Lazy } from "../app/lazy.tsx";
import { Name, Prose } from "../app/name.tsx";
import { number, rate } from "../app/numbers.ts";
import { open } from "../app/views.ts";
import { answer, ask, fault, isComputing, rest } from "./answer.ts";
import { ALGORITHMS, adopt, algorithm, input, LOSSES, loss, write, written } from "./demo.ts";
import { Scene } from "./scene.tsx";

const others = () => import("./others.tsx");

export default function StartView() {
  useSignalEffect(() => {
    void ask(input.value);
  });
  useSignalEffect(() => {
    void input.value;
    // The answer reports an engine that fails.
    write().catch(() => undefined);
  });
  useEffect(() => rest, []);
  return (
    <div class="start">
      <section class="show panel" aria-label="A download over a geostationary satellite">
        <Scene />
        <div class="tell">
          <h2>A download over a satellite</h2>
          <p class="lead">
            A server receives 20 MB over a geostationary satellite, 36,000 km up: each packet takes 0.3 s to arrive, and
            its acknowledgement 0.3 s to return. Bars are packets, circles are acknowledgements, and a packet that falls
            off the line is lost. Change the loss or the algorithm, and the packets and the answer change.
          </p>
          <Choices />
        </div>
      </section>
      <Answer />
      <Lazy name="Other networks" load={others} />
    </div>
  );
}

function Choices() {
  const at = LOSSES.indexOf(loss.value);
  const other = algorithm.value === "cubic" ? "bbr" : "cubic";
  return (
    <div class="choices">
      <div class="loss">
        <label for="start-loss">Loss on the satellite link</label>
        <span class="value" aria-hidden="true">
          {lossText(loss.value)}
        </span>
        <input
          id="start-loss"
          type="range"
          min={0}
          max={LOSSES.length - 1}
          step={1}
          value={at}
          aria-valuetext={lossText(loss.value)}
          onInput={(event) => {
            loss.value = LOSSES[event.currentTarget.valueAsNumber] ?? 0;
          }}
        />
      </div>
      <button
        type="button"
        class="primary swap"
        onClick={() => {
          algorithm.value = other;
        }}
      >
        {ALGORITHMS[other]} instead of {ALGORITHMS[algorithm.value]}
      </button>
    </div>
  );
}

/** Formats a fraction of the packets. */
function lossText(fraction: number): string {
  return fraction === 0 ? "none" : `${Number((100 * fraction).toPrecision(2))} %`;
}

function Answer() {
  const found = answer.value;
  const flow = found?.summary.flows[0];
  const names = found ? [...found.flows, ...found.links, ...found.nodes] : [];
  return (
    <section class="answer panel" aria-labelledby="answer" aria-busy={isComputing.value}>
      <h2 id="answer">Why is it slow?</h2>
      <Fault>{fault.value}</Fault>
      {found && flow && (
        <div class="words" role="status">
          <p class="headline">
            <Prose text={found.account.headline} names={names} />
          </p>
          <dl class="values">
            <div>
              <dt>Algorithm</dt>
              <dd>{ALGORITHMS[algorithm.value]}</dd>
            </div>
            <div>
              <dt>Goodput</dt>
              <dd>{rate(flow.goodput_bps)}</dd>
            </div>
            <div>
              <dt>Download takes</dt>
              <dd>{flow.finish_s !== null ? `${number(flow.finish_s - flow.start_s, 3)} s` : "not finished"}</dd>
            </div>
          </dl>
        </div>
      )}
      {found && (
        <details>
          <summary>
            More about <Name name={found.account.flows[0]?.[0] ?? ""} />
          </summary>
          <ul>
            {found.account.flows[0]?.[1].map((sentence) => (
              <li key={sentence}>
                <Prose text={sentence} names={names} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="next">
        <button type="button" class="primary" onClick={() => void adopt().then(() => open("run"))}>
          All charts of this run
        </button>
        <button type="button" onClick={() => void adopt().then(() => open("compare"))}>
          Compare algorithms
        </button>
        <button type="button" onClick={() => void adopt().then(() => open("scenario"))}>
          Scenario as text
        </button>
      </div>
      <Repeat
        make={() => {
          void input.value;
          return answer.value ? written().then((toml) => runCommand({ toml }, undefined)) : undefined;
        }}
      />
    </section>
  );
}
