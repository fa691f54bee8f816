/** The button that opens the help: what the views do, keys, where the documentation is, version and licence. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import licence from "../../../LICENSE?raw";
import { about } from "../app/state.ts";
import { documentation } from "./documentation.ts";
import "./help.css";

const VIEWS: [name: string, does: string][] = [
  ["Start", "shows a download over a satellite, and how loss and the algorithm change it."],
  [
    "Scenario",
    "describes a network and its flows as text, form and drawing, which are always in sync. Each error states a fix.",
  ],
  [
    "Run",
    "simulates the scenario, animates its packets, paths and satellites, explains why it is slow, and shows its charts.",
  ],
  ["Compare", "runs variants with the same seeds, and states which differences are significant."],
];

const KEYS: [where: string, keys: [key: string, does: string][]][] = [
  [
    "Run",
    [
      ["Space", "start, pause, continue"],
      [".", "advance to the next record"],
      ["n", "continue to the next loss"],
      ["r", "restart"],
      ["+ −", "change the speed"],
    ],
  ],
  [
    "Charts, diagrams and globe, when focused",
    [
      ["+ −", "zoom in, zoom out"],
      ["Arrow keys", "move, turn"],
      ["0", "show all"],
    ],
  ],
  [
    "Scenario",
    [
      ["Arrow keys", "move between the presets, and between Text, Form and Drawing"],
      ["Ctrl+Space", "complete a key or value in the text"],
      ["F8", "go to the next error in the text"],
    ],
  ],
];

export default function HelpButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  const address = useSignal<string | undefined>(undefined);
  const open = () => {
    address.value = documentation();
    dialog.current?.showModal();
  };
  return (
    <>
      <button
        type="button"
        class="icon"
        aria-label="Help"
        title="Help, documentation, version and licence"
        aria-haspopup="dialog"
        onClick={open}
      >
        <span aria-hidden="true">?</span>
      </button>
      <dialog class="help-dialog" ref={dialog} aria-labelledby="help-title">
        {/* It takes the focus, as the first button is at the end of the text. */}
        <h2 id="help-title" tabIndex={-1} autofocus>
          Help
        </h2>
        <p>
          lightlag simulates transport protocols over satellite, swarm and deep-space networks. The simulator runs in
          this page, and scenarios are not sent to a server.
        </p>
        <Documentation address={address.value} />
        <h3>Views</h3>
        <dl>
          {VIEWS.map(([name, does]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <h3>Keys</h3>
        {KEYS.map(([where, keys]) => (
          <section key={where} aria-label={`Keys: ${where}`}>
            <h4>{where}</h4>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <h3>Version and licence</h3>
        <p>lightlag {about.value?.version ?? "…"}, MIT licence.</p>
        <details>
          <summary>Licence text</summary>
          <pre>{licence}</pre>
        </details>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

/** Link to the documentation: the site that the page is part of, or the commands of the package. */
function Documentation({ address }: { address: string | undefined }) {
  return address ? (
    <p>
      <a href={address} target="_blank" rel="noopener">
        Documentation
      </a>
      : tutorial, gallery, guides and reference.
    </p>
  ) : (
    <p>
      Documentation: <code>lightlag explain rwnd</code> explains a key or a term, <code>lightlag --help</code> lists the
      commands, and the source tree has a tutorial, guides and the reference in the directory <code>docs</code>.
    </p>
  );
}
