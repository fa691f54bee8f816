import { Fault } from "../app/fault.tsx";

/** Notice for browsers without WebGL. */
export function NoWebGL({ what }: { what: string }) {
  return (
    <Fault>
      {what} needs WebGL 2, which this browser does not offer. Enable hardware acceleration, or use another browser.
      Everything else works without it.
    </Fault>
  );
}
