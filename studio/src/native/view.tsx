import "./native.css";
import { machine } from "./machine.ts";
import { Report } from "./report.tsx";
import { Results } from "./results.tsx";
import { Starting } from "./starting.tsx";
import { TaskList } from "./tasklist.tsx";

/** This machine: native runs and comparisons, studies, and the results in the directories. */
export default function NativeView() {
  const about = machine.value;
  return (
    <div class="native">
      {about && (
        <p class="quiet where">
          lightlag {about.version}, {about.cores} {about.cores === 1 ? "core" : "cores"}. New results go to{" "}
          <code>{about.folders[0]}</code>
          {about.folders.length > 1 && (
            <>
              {" "}
              ; also read: <code>{about.folders.slice(1).join(", ")}</code>
            </>
          )}
        </p>
      )}
      <div class="doing">
        <Starting />
        <TaskList />
      </div>
      <Results />
      <Report />
    </div>
  );
}
