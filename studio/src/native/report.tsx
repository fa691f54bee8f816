import { useEffect, useRef } from "preact/hooks";
import { shown } from "./machine.ts";

/** A report in a frame without an origin: its scripts cannot access the page or the server. */
export function Report() {
  const dialog = useRef<HTMLDialogElement>(null);
  const report = shown.value;
  useEffect(() => {
    if (report) {
      dialog.current?.showModal();
    }
  }, [report]);
  if (!report) {
    return null;
  }
  return (
    <dialog
      class="report"
      ref={dialog}
      aria-labelledby="report-name"
      onClose={() => {
        shown.value = undefined;
      }}
    >
      <header>
        <h2 id="report-name">Report of {report.name}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <iframe title={`Report of ${report.name}`} src={report.address} sandbox="allow-scripts" />
    </dialog>
  );
}
