/** The button that shares: a link with the whole scenario, and the line that embeds it. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
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
          The link holds everything: the scenario with its files, seed, view and variants. The same link gives the same
          result on any machine, and no server sees it.
        </p>
        <Copy name="Link" text={link.value} />
        {isLocal() && (
          <p class="long" role="status">
            This address is one of your own machine. For others, put the part from # on behind the address of a studio
            that they reach.
          </p>
        )}
        {link.value.length > LONG && (
          <p class="long" role="status">
            The link has {link.value.length.toLocaleString("en")} characters. Some programs cut links that are longer
            than {LONG.toLocaleString("en")}: save the scenario as a file, or send it so that it stays whole.
          </p>
        )}
        <Copy name="To embed it in a page" text={frame.value} />
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
      {fault.value && (
        <div class="link-fault" role="alert">
          <p>
            The link was not opened: {fault}. The page goes on with {title}.
          </p>
          <button type="button" class="icon" aria-label="Close" onClick={() => (fault.value = undefined)}>
            ×
          </button>
        </div>
      )}
    </>
  );
}

/** Whether others cannot reach this page. */
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
