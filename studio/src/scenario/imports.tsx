/** Import of files: a scenario, or the changes of a link. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { base64 } from "../app/base64.ts";
import { Cross } from "../app/fields.tsx";
import { checked, door, files, take, toml } from "../app/state.ts";
import { scenarioOf } from "./capture.ts";
import { gist } from "./form.tsx";
import { tables } from "./network.ts";
import { askedName, faultOfTrace } from "./trace.ts";
import { change, read, values } from "./values.ts";

/** Result of the last import, or its error. */
export const report = signal<{ says: string; isBad: boolean } | undefined>(undefined);

/** An imported trace without a link yet. */
const waiting = signal<{ name: string; data: string } | undefined>(undefined);

const MOST = 32 * 1024 * 1024;

/** Imports a file by its type. */
export async function takeFile(file: File): Promise<void> {
  const refuse = (why: string) => {
    report.value = { says: `${file.name}: ${why}`, isBad: true };
  };
  if (file.size > MOST) {
    return refuse(`${(file.size / 1e6).toFixed(0)} MB exceed the limit of ${MOST / 2 ** 20} MiB`);
  }
  const ending = file.name.toLowerCase().replace(/^.*\./, "");
  const fileName = askedName(toml.peek(), file.name);
  if (ending === "toml") {
    const text = (await file.text()).replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
    if (!read(text) && !/=/.test(text)) {
      return refuse("not a scenario: the file has no TOML key");
    }
    take(text, files.peek());
    report.value = { says: `${file.name} is now the scenario`, isBad: false };
  } else if (fileName) {
    files.value = { ...files.peek(), [fileName]: base64(new Uint8Array(await file.arrayBuffer())) };
    report.value = { says: `${fileName} was added to the scenario`, isBad: false };
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
      report.value = { says: `the scenario is now the path of ${file.name}`, isBad: false };
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  } else {
    refuse(
      "unknown type; open a scenario (.toml), a trace of a link (.csv, or .trace of Mahimahi), a capture (.pcap, .pcapng), or a file that the scenario names",
    );
  }
}

/** Assigns a trace to a link. */
async function give(link: number): Promise<void> {
  const trace = waiting.value;
  if (!trace) {
    return;
  }
  waiting.value = undefined;
  files.value = { ...files.value, [trace.name]: trace.data };
  const format = trace.name.toLowerCase().endsWith(".csv") ? {} : { format: "mahimahi" };
  await change(["links", link, "trace"], { file: trace.name, ...format });
  report.value = { says: `links[${link}] now follows ${trace.name}`, isBad: false };
}

/** The button that opens files, and the dialog that selects the link of a trace. */
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

/** Imports several files, scenarios first. */
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
      <h2 id="trace-title">Which link follows {waiting.value?.name}?</h2>
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

/** The files of the scenario. */
export function Files() {
  const names = Object.keys(files.value);
  const missing = (checked.value?.errors ?? []).some(({ message }) => /file/i.test(message));
  if (names.length === 0 && !report.value) {
    return null;
  }
  return (
    <div class="files">
      {report.value && (
        <p class={report.value.isBad ? "message bad" : "message"} role={report.value.isBad ? "alert" : "status"}>
          {report.value.says}
        </p>
      )}
      {names.map((name) => (
        <span class="chip" key={name}>
          {name}
          <Cross
            label={`Remove the file ${name}`}
            act={() => {
              const { [name]: _, ...rest } = files.value;
              files.value = rest;
            }}
          />
        </span>
      ))}
      {missing && names.length > 0 && <span class="quiet">Files are matched by the names in the scenario.</span>}
    </div>
  );
}
