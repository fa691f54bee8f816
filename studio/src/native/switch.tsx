/** At the head of every view: which engine runs, and what is wrong with the machine. */

import { elsewhere } from "../app/state.ts";
import { isThere, machine, notice, reconnect, runHere, trouble } from "./machine.ts";
import "./native.css";

export default function Switch() {
  const cores = machine.value?.cores;
  return (
    <>
      {machine.value && (
        <label class="engine-choice">
          <span>Run on</span>{" "}
          <select
            value={elsewhere.value ? "machine" : "page"}
            disabled={!isThere.value}
            title="The engine of the views Scenario, Run and Compare: the page's own (WebAssembly), or the native one of this machine"
            onChange={(event) => runHere(event.currentTarget.value === "machine")}
          >
            <option value="page">this page</option>
            <option value="machine">this machine{cores ? ` (${cores} cores)` : ""}</option>
          </select>
        </label>
      )}
      {(trouble.value || notice.value) && (
        <div class="notices">
          {trouble.value && (
            <div class="notice" role="alert">
              <p>{trouble}.</p>
              <button type="button" onClick={() => void reconnect()}>
                Try again
              </button>
              <Close says={trouble} />
            </div>
          )}
          {notice.value && (
            <div class="notice" role="alert">
              <p>{notice}</p>
              <Close says={notice} />
            </div>
          )}
        </div>
      )}
    </>
  );
}

function Close({ says }: { says: { value: string } }) {
  return (
    <button
      type="button"
      class="icon"
      aria-label="Close"
      onClick={() => {
        says.value = "";
      }}
    >
      ×
    </button>
  );
}
