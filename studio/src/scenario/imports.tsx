/** Files that come from outside: a scenario, or how a link changes. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { checked, door, files, take, toml } from "../app/state.ts";
import { scenarioOf } from "./capture.ts";
import { gist } from "./form.tsx";
import { tables } from "./network.ts";
import { askedName, base64, faultOfTrace } from "./trace.ts";
import { change, read, values } from "./values.ts";

/** What the last import did or why it did not. */
export const report = signal<{ says: string; isBad: boolean } | undefined>(undefined);

/** A trace that waits for its link. */
const waiting = signal<{ name: string; data: string } | undefined>(undefined);

const MOST = 32 * 1024 * 1024;

/** Takes a file by what it is. */
export async function takeFile(file: File): Promise<void> {
  const refuse = (why: string) => {
    report.value = { says: `${file.name}: ${why}`, isBad: true };
  };
  if (file.size > MOST) {
    return refuse(`${(file.size / 1e6).toFixed(0)} MB are more than the ${MOST / 2 ** 20} MiB that the page takes`);
  }
  const ending = file.name.toLowerCase().replace(/^.*\./, "");
  const asked = askedName(toml.peek(), file.name);
  if (ending === "toml") {
    const text = (await file.text()).replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
    if (!read(text) && !/=/.test(text)) {
      return refuse("it is no scenario: no key of TOML is in it");
    }
    take(text, files.peek());
    report.value = { says: `${file.name} is the scenario now`, isBad: false };
  } else if (asked) {
    files.value = { ...files.peek(), [asked]: base64(new Uint8Array(await file.arrayBuffer())) };
    report.value = { says: `${asked} is with the scenario now`, isBad: false };
  } else if (ending === "csv" || ending === "trace" || ending === "mahi") {
    const fault = ending === "csv" ? faultOfTrace(await file.text()) : undefined;
    if (fault) {
      return refuse(fault);
    }
    waiting.value = { name: file.name, data: base64(new Uint8Array(await file.arrayBuffer())) };
    report.value = undefined;
  } else if (ending === "pcap" || ending === "pcapng") {
    try {
      const data = base64(new Uint8Array(await file.arrayBuffer()));
      take(scenarioOf(file.name, await door().ask({ op: "inspect", data })));
      report.value = { says: `the path of ${file.name} is the scenario now`, isBad: false };
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  } else {
    refuse(
      "the page takes a scenario (.toml), a trace of a link (.csv, or .trace of Mahimahi), a capture (.pcap, .pcapng), or a file that the scenario names",
    );
  }
}

/** Gives a trace to a link. */
async function give(link: number): Promise<void> {
  const trace = waiting.value;
  if (!trace) {
    return;
  }
  waiting.value = undefined;
  files.value = { ...files.value, [trace.name]: trace.data };
  const format = trace.name.toLowerCase().endsWith(".csv") ? {} : { format: "mahimahi" };
  await change(["links", link, "trace"], { file: trace.name, ...format });
  report.value = { says: `${trace.name} changes links[${link}]`, isBad: false };
}

/** The button that opens files, and the question to which link a trace belongs. */
export function Imports() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        title="A scenario (TOML), a trace of a link (CSV, Mahimahi), a capture (pcap), or a file that the scenario names"
        onClick={() => input.current?.click()}
      >
        Open file …
      </button>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-hidden="true"
        multiple
        onChange={(event) => {
          void takeAll(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <LinkOfTrace />
    </>
  );
}

/** Takes several files, scenarios first. */
export async function takeAll(list: FileList | null | undefined): Promise<void> {
  const sorted = [...(list ?? [])].sort((a, b) => Number(b.name.endsWith(".toml")) - Number(a.name.endsWith(".toml")));
  for (const file of sorted) {
    await takeFile(file);
  }
}

function LinkOfTrace() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = waiting.value !== undefined;
  useEffect(() => {
    if (isOpen) {
      dialog.current?.showModal();
    } else {
      dialog.current?.close();
    }
  }, [isOpen]);
  const links = tables(values.value.now.links);
  return (
    <dialog ref={dialog} aria-labelledby="trace-title" onClose={() => (waiting.value = undefined)}>
      <h2 id="trace-title">Which link does {waiting.value?.name} change?</h2>
      {links.length === 0 && <p>The scenario lists no links. Add one, then open the trace again.</p>}
      <ul class="choices">
        {links.map((link, index) => (
          <li key={index}>
            <button type="button" onClick={() => void give(index)}>
              links[{index}] <span class="quiet">{gist("links", link)}</span>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="plain" onClick={() => dialog.current?.close()}>
        Cancel
      </button>
    </dialog>
  );
}

/** Files that the scenario has with it. */
export function Files() {
  const names = Object.keys(files.value);
  const missing = (checked.value?.errors ?? []).some(({ message }) => /file/i.test(message));
  if (names.length === 0 && !report.value) {
    return null;
  }
  return (
    <div class="files">
      {report.value && (
        <p class={report.value.isBad ? "said bad" : "said"} role={report.value.isBad ? "alert" : "status"}>
          {report.value.says}
        </p>
      )}
      {names.map((name) => (
        <span class="chip" key={name}>
          {name}
          <button
            type="button"
            class="icon"
            aria-label={`Forget the file ${name}`}
            onClick={() => {
              const { [name]: _, ...rest } = files.value;
              files.value = rest;
            }}
          >
            ×
          </button>
        </span>
      ))}
      {missing && names.length > 0 && (
        <span class="quiet">Files are found by the names that the scenario gives them.</span>
      )}
    </div>
  );
}
