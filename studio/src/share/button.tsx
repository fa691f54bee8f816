/** The share button: a link with the entire scenario, and the line that embeds it. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Cross } from "../app/fields.tsx";
import { title } from "../app/state.ts";
import { LONG } from "./link.ts";
import { current, fault, linkTo } from "./opening.ts";
import "./share.css";

export default function ShareButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  const link = useSignal("");
  const frame = useSignal("");
  const open = async () => {
    const shared = current();
    link.value = await linkTo("./", shared);
    const { view: _, variants: __, seeds: ___, ...scenario } = shared;
    const name = title.value.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    frame.value = `<iframe src="${await linkTo("embed.html", scenario)}" title="${name}" width="100%" height="640"></iframe>`;
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" onClick={() => void open()}>
        Share
      </button>
      <dialog class="share" ref={dialog} aria-labelledby="share">
        <h2 id="share">Share {title}</h2>
        <p>
          The link contains the complete state: the scenario with its files, seed, view and variants. It gives the same
          result on any machine, and its content is not sent to a server.
        </p>
        <Copy name="Link" text={link.value} />
        {isLocal() && (
          <p class="long" role="status">
            This address works only on your own machine. To share it, append the part that starts with # to the address
            of a studio that others can reach.
          </p>
        )}
        {link.value.length > LONG && (
          <p class="long" role="status">
            The link has {link.value.length.toLocaleString("en")} characters. Some programs truncate links with more
            than {LONG.toLocaleString("en")}: save the scenario as a file, or check that the link arrives complete.
          </p>
        )}
        <Copy name="HTML to embed it in a page" text={frame.value} />
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
      {fault.value && (
        <div class="link-fault" role="alert">
          <p>
            The link was not opened: {fault}. The studio still shows {title}.
          </p>
          <Cross label="Close" act={() => (fault.value = undefined)} />
        </div>
      )}
    </>
  );
}

/** Returns true if others cannot reach this page. */
function isLocal(): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname) || location.protocol === "file:";
}

function Copy({ name, text }: { name: string; text: string }) {
  const field = useRef<HTMLInputElement>(null);
  const said = useSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = "Copied.";
    } catch {
      field.current?.select();
      said.value = "Press Ctrl+C or ⌘C to copy.";
    }
  };
  return (
    <div class="copy">
      <label>
        {name}
        <input type="text" class="mono" readOnly ref={field} value={text} onFocus={() => field.current?.select()} />
      </label>
      <button type="button" class="primary" aria-label={`Copy: ${name}`} onClick={() => void copy()}>
        Copy
      </button>
      <span role="status">{said}</span>
    </div>
  );
}
