/** Header of every view: the selected engine, and errors of the machine. */

import { Cross } from "../app/fields.tsx";
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
            title="Engine of the Scenario, Run and Compare views: WebAssembly in this page, or native on this machine"
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
              <Cross label="Close" act={() => (trouble.value = "")} />
            </div>
          )}
          {notice.value && (
            <div class="notice" role="alert">
              <p>{notice}</p>
              <Cross label="Close" act={() => (notice.value = "")} />
            </div>
          )}
        </div>
      )}
    </>
  );
}
