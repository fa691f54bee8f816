import "../app/key.css";
import "./topology.css";
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Options } from "../app/fields.tsx";
import { rate, time } from "../app/layout.ts";
import { Name } from "../app/name.tsx";
import { grouped, number } from "../app/numbers.ts";
import { Scrolled, Table } from "../app/table.tsx";
import { isDark } from "../app/theme.ts";
import type { Moment, Names, Watched } from "../app/watched.ts";
import { waysOf } from "../app/ways.ts";
import type { Network, Tables } from "../engine/protocol.ts";
import { momentSays } from "./moments.ts";
import { type Figures, Moving } from "./moving.ts";
import { counted } from "./queues.ts";
import { partOf, type Replay, replayOf } from "./replay.ts";
import { run, SPEEDS, setSpeed } from "./running.ts";

const MOST_FLOWS = 8;

/** Animation of the network during a run: queues that fill, and packets in transit. */
export default function Topology({ live, isPlain = false }: { live: Watched; isPlain?: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const network = useSignal<Network | undefined>(undefined);
  const figures = useSignal<Figures | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const isStill = useStill();
  const round = live.round.value;
  const names = live.started;
  const moments = useSignal<Moment[]>([]);
  const kind = useSignal<Moment["kind"] | undefined>(undefined);
  const replay = useSignal<Replay | undefined>(undefined);
  const isPlaying = useSignal(true);
  const part = useSignal<number | undefined>(undefined);
  const shown = useRef<Moving | undefined>(undefined);
  // A run at full speed reports no packets. When it is over, a part of it is run again.
  const isReplayed = !live.hasPackets && live.isOver?.value === true && live.moments !== undefined;
  const wantedKind = isReplayed ? kind.value : undefined;
  useEffect(() => {
    const place = canvas.current;
    if (!place) {
      return;
    }
    const own = live.door();
    let early: Tables[] = [];
    let moving: Moving | undefined;
    let isGone = false;
    const ends = [
      live.onStep(({ tables }) => (moving ? moving.add(tables) : early.push(tables))),
      effect(() => {
        const now = live.now.value;
        const queues = live.queues.value;
        moving?.take(queues);
        moving?.at(now);
      }),
      effect(() => {
        isDark();
        queueMicrotask(() => moving?.restyle());
      }),
    ];
    const watch = new ResizeObserver(() => moving?.resize());
    watch.observe(place);
    const show = async () => {
      const { input } = live;
      const answer = await own.ask({ op: "network", ...input });
      if (answer.errors || isGone) {
        return;
      }
      network.value = answer;
      const again = isReplayed ? await recorded(answer) : undefined;
      if (isGone) {
        return;
      }
      replay.value = again;
      const tell = (told: Figures) => {
        figures.value = told;
      };
      moving = new Moving(place, answer, waysOf(live), isStill, tell, again);
      moving.play(isPlaying.peek());
      shown.current = moving;
      for (const tables of early) {
        moving.add(tables);
      }
      early = [];
      moving.take(live.queues.peek());
      moving.at(live.now.peek());
      if (answer.media.length > 0) {
        await moving.follow(own, input);
      } else {
        own.close();
      }
    };
    /** Runs the part around the selected moment again. */
    const recorded = async (answer: Network) => {
      moments.value = (await live.moments?.(undefined)) ?? [];
      const wanted = moments.peek().find((one) => one.kind === wantedKind) ?? moments.peek()[0];
      if (!wanted || isGone) {
        return undefined;
      }
      const end_s = live.started.end_s;
      const tell = (now: number) => {
        part.value = isGone ? undefined : now;
      };
      const chosen = partOf(wanted, end_s, live.hopsPerSecond?.() ?? 0);
      try {
        return await replayOf(own, live.input, live.started.seed, answer, chosen, end_s, tell, () => !isGone);
      } finally {
        part.value = undefined;
      }
    };
    show().catch((error: unknown) => {
      fault.value = isGone ? undefined : error instanceof Error ? error.message : String(error);
    });
    return () => {
      isGone = true;
      shown.current = undefined;
      watch.disconnect();
      for (const end of ends) {
        end();
      }
      moving?.close();
      own.close();
    };
  }, [live, round, isStill, isReplayed, wantedKind]);
  const hasPackets = live.hasPackets || replay.value !== undefined;
  return (
    <section class="moving" aria-label="Network">
      <Key
        flows={names.flows}
        figures={figures.value}
        isStill={isStill}
        hasPackets={hasPackets}
        replay={isReplayed ? replay.value : undefined}
      />
      {!live.hasPackets && !isPlain && network.value && (
        <div class="moving-says moving-replay">
          {isReplayed && replay.value && (
            <ReplayBar
              replay={replay.value}
              now_s={figures.value?.time_s ?? replay.value.from_s}
              isPlaying={isPlaying.value && !isStill}
              moments={moments.value}
              kind={kind.value ?? moments.value[0]?.kind}
              choose={(next) => {
                kind.value = next;
              }}
              play={(next) => {
                isPlaying.value = next;
                shown.current?.play(next);
              }}
              seek={(time_s) => {
                isPlaying.value = false;
                shown.current?.seek(time_s);
              }}
            />
          )}
          {part.value !== undefined && <span>Running again for its packets: {Math.round(part.value * 100)} %</span>}
          {!isReplayed && <span>Packets are not recorded at full speed.</span>}{" "}
          <button type="button" onClick={() => watch(network.value)}>
            Watch its packets{isReplayed ? " from the start" : ""}
          </button>
        </div>
      )}
      <Fault>{fault.value}</Fault>
      <canvas ref={canvas} role="img" aria-label={described(network.value, figures.value, names)} />
      {!isPlain && network.value && figures.value && (
        <Links figures={figures.value} names={names} network={network.value} hasPackets={hasPackets} />
      )}
    </section>
  );
}

/** Plays the packets of a moment, and selects another one. */
function ReplayBar(props: {
  replay: Replay;
  now_s: number;
  isPlaying: boolean;
  moments: Moment[];
  kind: Moment["kind"] | undefined;
  choose(next: Moment["kind"]): void;
  play(next: boolean): void;
  seek(time_s: number): void;
}) {
  const { replay, now_s, isPlaying, moments, kind, choose, play, seek } = props;
  const { from_s, to_s } = replay;
  return (
    <>
      <button type="button" onClick={() => play(!isPlaying)}>
        <span aria-hidden="true">{isPlaying ? "❚❚" : "▶"}</span> {isPlaying ? "Pause packets" : "Play packets"}
      </button>
      <label>
        Packets of{" "}
        <select value={kind} onChange={({ currentTarget }) => choose(currentTarget.value as Moment["kind"])}>
          <Options options={moments.map((one) => [one.kind, momentSays(one)])} />
        </select>
      </label>
      <input
        type="range"
        aria-label="Time of the packets"
        min={from_s}
        max={to_s}
        step={(to_s - from_s) / 500}
        value={now_s}
        aria-valuetext={`${now_s.toFixed(4)} s`}
        onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
      />
    </>
  );
}

/** Target time in seconds for a packet on the screen to cross the longest link. */
const CROSSING = 1.5;

/** Restarts the run at a speed that makes packets visible. */
function watch(network: Network | undefined): void {
  const longest = Math.max(...(network?.links ?? []).map(({ delay_s }) => delay_s), 0.05);
  const fit = SPEEDS.filter((speed) => speed <= longest / CROSSING).at(-1) ?? SPEEDS[0] ?? 1;
  setSpeed(fit);
  void run();
}

/** Returns true if the user prefers reduced motion. */
function useStill(): boolean {
  const isStill = useSignal(matchMedia("(prefers-reduced-motion: reduce)").matches);
  useEffect(() => {
    const wish = matchMedia("(prefers-reduced-motion: reduce)");
    const take = () => {
      isStill.value = wish.matches;
    };
    wish.addEventListener("change", take);
    return () => wish.removeEventListener("change", take);
  }, []);
  return isStill.value;
}

/** Describes the current state of the animation as text. */
function described(network: Network | undefined, figures: Figures | undefined, names: Names): string {
  if (!network) {
    return "The network";
  }
  const { nodes, links, flows, more } = network;
  const count = nodes.length + more.nodes;
  const all = [
    several(count, "node"),
    several(links.length + more.links, "link direction"),
    several(flows.length + more.flows, "flow"),
  ];
  const parts = `The network: ${all.join(", ")}.`;
  if (!figures) {
    return parts;
  }
  const [fullest] = [...figures.links].sort((a, b) => b.queue - a.queue);
  const queue = fullest?.queue
    ? `the longest queue is at ${names.links[fullest.link]}: ${several(fullest.queue, "packet")}`
    : "no packet waits in a queue";
  return `${parts} At ${figures.time_s.toFixed(2)} s ${queue}. The table below has the others.`;
}

/** Legend of the marks, and the current content. */
function Key({ flows, ...shownNow }: { flows: string[] } & Now) {
  const shown = flows.slice(0, MOST_FLOWS);
  return (
    <div class="moving-key">
      {shown.map((flow, index) => (
        <span key={flow}>
          <span class={`key s${index + 1}`} />
          <Name name={flow} />
        </span>
      ))}
      {flows.length > MOST_FLOWS && (
        <span class="quiet">and {flows.length - MOST_FLOWS} more flows, in the same colours again</span>
      )}
      <span class="quiet">
        <svg width="64" height="12" aria-hidden="true">
          <path class="mark-data" d="M2 6h8" />
          <circle class="mark-ack" cx="30" cy="6" r="2.6" />
          <path class="mark-again" d="M48 6h8" />
          <path class="mark-data" d="M49 6h6" />
        </svg>
        data, ACK, retransmitted
      </span>
      <span class="quiet shown">{says(shownNow)}</span>
    </div>
  );
}

interface Now {
  figures: Figures | undefined;
  isStill: boolean;
  hasPackets: boolean;
  replay: Replay | undefined;
}

function says({ figures, isStill, hasPackets, replay }: Now): string {
  if (!figures) {
    return "";
  }
  if (replay) {
    const { from_s, to_s, speed } = replay;
    const digits = Math.min(6, Math.max(2, Math.ceil(2 - Math.log10(to_s - from_s))));
    const slow = speed < 1 ? `${number(1 / speed, 2)} times slower than the run` : `${number(speed, 2)} times faster`;
    return `${figures.time_s.toFixed(digits)} s: ${several(figures.packets, "packet")} drawn, ${slow}`;
  }
  const at = `${figures.time_s.toFixed(2)} s`;
  if (isStill) {
    return `${at}, without motion, because your system requests reduced motion: see the queue values below`;
  }
  if (!hasPackets) {
    return `${at}: queues only`;
  }
  if (figures.isTooFast) {
    return `${at}: too fast to follow a packet; reduce the speed`;
  }
  const some = figures.oneOf > 1 ? `, one of ${figures.oneOf}` : "";
  return `${at}: ${several(figures.packets, "packet")} drawn${some}`;
}

function several(number: number, word: string): string {
  return `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** The links with the fullest queues, in numbers. */
const HEADS = ["link direction", "queue", "maximum", "dropped", "rate, delay"];

function Links({
  figures,
  names,
  network,
  hasPackets,
}: {
  figures: Figures;
  names: Names;
  network: Network;
  hasPackets: boolean;
}) {
  if (figures.links.length === 0) {
    return <p class="moving-under">No recorded queue has held a packet so far.</p>;
  }
  return (
    <details class="moving-links" open={figures.links.length < 5}>
      <summary>Queue values</summary>
      <Scrolled label="Queue values">
        <Table label="Queue values" heads={hasPackets ? [...HEADS, "in transit"] : HEADS}>
          {figures.links.map(({ link, queue, most, dropped, moving }) => {
            const about = network.links[link];
            return (
              <tr key={link}>
                <td>
                  <Name name={names.links[link] ?? ""} />
                </td>
                <td>{counted(queue)}</td>
                <td>{grouped(most)}</td>
                <td>{grouped(dropped)}</td>
                <td>
                  {about ? `${rate(about.rate_bps)}${about.delay_s > 0 ? `, ${time(about.delay_s)}` : ""}` : "radio"}
                </td>
                {hasPackets && <td>{moving.toLocaleString("en")}</td>}
              </tr>
            );
          })}
        </Table>
      </Scrolled>
      {figures.links.length === 12 && <p class="quiet">The twelve fullest queues; the others held less.</p>}
    </details>
  );
}
