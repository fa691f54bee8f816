/** The network of a run, and its packets: a fast run is repeated slowly to show them. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { number } from "../app/numbers.ts";
import type { Watched } from "../app/watched.ts";
import { Live } from "./live.ts";
import { separate } from "./open.ts";
import { SPEEDS } from "./running.ts";
import Topology from "./topology.tsx";

/** Target time in seconds for a packet on the screen to cross the longest link. */
const CROSSING = 1.5;

/** A part of a run that is shown slowly. */
interface Part {
  run: Live;
  from_s: number;
  speed: number;
  /** Whether it starts shortly before the first loss. */
  isLoss: boolean;
}

export default function Replay({ live }: { live: Watched }) {
  const part = useSignal<Part | undefined>(undefined);
  const fault = useSignal("");
  const end = () => {
    part.peek()?.run.stop();
    part.value = undefined;
  };
  const round = live.round.value;
  useEffect(() => end, [live, round]);
  const watch = async () => {
    fault.value = "";
    try {
      end();
      const next = await partOf(live as Live);
      part.value = next;
      next.run.play();
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error);
    }
  };
  const now = part.value;
  return (
    <>
      <Fault>{fault.value}</Fault>
      {now && (
        <p class="moving-says replay">
          The same run again at {now.speed}×, from {number(now.from_s, 3)} s
          {now.isLoss ? ", shortly before its first loss" : ""}.{" "}
          <button type="button" onClick={() => void watch()}>
            Again
          </button>{" "}
          <button type="button" onClick={end}>
            Entire run
          </button>
        </p>
      )}
      <Topology live={now?.run ?? live} {...(live instanceof Live ? { watch } : {})} />
    </>
  );
}

/** Starts a run again, paused, to be shown from shortly before its first loss, or from its start. */
async function partOf(live: Live): Promise<Part> {
  const door = live.door();
  let longest = 0.05;
  try {
    const { links = [] } = await door.ask({ op: "network", ...live.input });
    longest = Math.max(longest, ...links.map(({ delay_s }) => delay_s));
  } finally {
    door.close();
  }
  const { x } = await live.losses({ from_s: 0, to_s: live.now.peek(), points: 10_000 });
  const from_s = Math.max(0, (x[0] ?? 0) - 2 * longest);
  const speed = SPEEDS.filter((one) => one <= longest / CROSSING).at(-1) ?? SPEEDS[0] ?? 1;
  const seed = live.started.seed;
  return { run: await separate(live.input, { speed, seed, skip_s: from_s }), from_s, speed, isLoss: x.length > 0 };
}
