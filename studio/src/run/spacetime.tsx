import "../app/key.css";
import "./topology.css";
import { effect, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Fault } from "../app/fault.tsx";
import { Options } from "../app/fields.tsx";
import { time } from "../app/layout.ts";
import { Prose } from "../app/name.tsx";
import { grouped, number } from "../app/numbers.ts";
import { isDark } from "../app/theme.ts";
import type { Moment, Watched } from "../app/watched.ts";
import { engine } from "../engine/here.ts";
import { download } from "../save/download.ts";
import { Diagram, type Seen as InSight } from "./diagram.ts";
import { type Piece, piecesOf, stopsOf } from "./drawn.ts";
import type { Hop } from "./hops.ts";
import { momentSays } from "./moments.ts";
import { firstWindow, roundTripOf, windowAt } from "./opening.ts";
import type { View } from "./stretch.ts";
import { type Watched as Seen, watched } from "./window.ts";

/** Maximum number of packets listed as text. */
const LISTED = 50;
/** Maximum number of flows that can be selected. */
const MOST_FLOWS = 500;

/** The packets of a flow in time and space. */
export default function SpaceTime({ live }: { live: Watched }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const diagram = useRef<Diagram | undefined>(undefined);
  const choice = useSignal({ flow: 0, from_s: 0, to_s: Math.min(live.started.end_s, 2) });
  const isChosen = useRef(false);
  /** Number of times that the window was changed outside the form; each change rebuilds the form. */
  const given = useSignal(0);
  const roundTrip_s = useSignal<number | undefined>(undefined);
  const seen = useSignal<Seen | undefined>(undefined);
  const pieces = useSignal<Piece[]>([]);
  const inSight = useSignal<InSight | undefined>(undefined);
  const under = useSignal<Piece | undefined>(undefined);
  const part = useSignal<number | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const wanted = useRef(0);
  const id = useId();
  const moments = useSignal<Moment[]>([]);
  /** The selected moment; undefined selects the first one. */
  const kind = useSignal<Moment["kind"] | undefined>(undefined);
  const isOver = live.isOver?.value === true;
  const run = async () => {
    const number = ++wanted.current;
    const own = engine();
    fault.value = undefined;
    part.value = 0;
    let view: View | undefined;
    try {
      const network = await own.ask({ op: "network", ...live.input });
      const { flow } = choice.peek();
      const end_s = live.started.end_s;
      moments.value = live.isOver?.peek() ? ((await live.moments?.(flow)) ?? []) : [];
      if (number !== wanted.current) {
        return;
      }
      if (!isChosen.current) {
        const moment = moments.peek().find((one) => one.kind === kind.peek()) ?? moments.peek()[0];
        const around = moment && moment.kind !== "start" ? windowAt(moment, end_s) : undefined;
        view = around?.view;
        choice.value = { flow, ...(around?.whole ?? firstWindow(network, flow, end_s)) };
        given.value++;
      }
      const found = await watched(
        own,
        live.input,
        live.started.seed,
        network,
        choice.peek(),
        (now) => {
          part.value = now;
        },
        () => number === wanted.current,
      );
      if (found) {
        const stops = stopsOf(found.hops.kept);
        pieces.value = piecesOf(found.hops.kept, stops);
        seen.value = found;
        const { from_s, to_s } = choice.peek();
        const ends = network.flows[flow];
        const content = { stops, pieces: pieces.value, nodes: found.nodes };
        roundTrip_s.value = ends && roundTripOf(found.hops.kept, ends);
        diagram.current?.show(content, { from_s, to_s }, roundTrip_s.value, view);
      }
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error);
    } finally {
      own.close();
      if (number === wanted.current) {
        part.value = undefined;
      }
    }
  };
  useEffect(() => {
    const place = canvas.current;
    if (!place) {
      return;
    }
    const drawn = new Diagram(
      place,
      (piece) => {
        under.value = piece;
      },
      (now) => {
        inSight.value = now;
      },
    );
    diagram.current = drawn;
    const watch = new ResizeObserver(() => drawn.resize());
    watch.observe(place);
    const ends = effect(() => {
      isDark();
      queueMicrotask(() => drawn.paint());
    });
    return () => {
      watch.disconnect();
      ends();
      drawn.close();
    };
  }, [live]);
  useEffect(() => {
    // The end of the run may change which moment is shown, but not a window that the user selected.
    if (!isOver || !isChosen.current) {
      void run();
    }
  }, [live, isOver]);
  useEffect(
    () => () => {
      wanted.current++;
    },
    [live],
  );
  const flow = live.started.flows[choice.value.flow] ?? "";
  return (
    <section class="moving" aria-label="Space-time diagram">
      <Chooser
        key={given.value}
        flows={live.started.flows}
        end={live.started.end_s}
        choice={choice.value}
        moments={moments.value}
        kind={isChosen.current ? undefined : (kind.value ?? moments.value[0]?.kind)}
        choose={(next) => {
          isChosen.current = false;
          kind.value = next;
          void run();
        }}
        isRunning={part.value !== undefined}
        take={(next) => {
          const { flow, from_s, to_s } = choice.peek();
          // Another flow with the same window has its own moments.
          isChosen.current = next.flow === flow || next.from_s !== from_s || next.to_s !== to_s;
          choice.value = next;
          void run();
        }}
      />
      <div class="moving-key">
        <span>
          <span class="key s1" />
          data
        </span>
        <span>
          <span class="key s2" />
          retransmitted
        </span>
        <span>
          <span class="key s3" />
          ACK
        </span>
        <span class="bad">× dropped</span>
        <span class="quiet">flat and thick: queued</span>
        <span class="shown">
          <button type="button" class="icon" aria-label="Zoom in" onClick={() => diagram.current?.zoom(0.5)}>
            +
          </button>
          <button type="button" class="icon" aria-label="Zoom out" onClick={() => diagram.current?.zoom(2)}>
            −
          </button>
          <button type="button" title="Show the entire window (0)" onClick={() => diagram.current?.all()}>
            All
          </button>
          <button
            type="button"
            disabled={pieces.value.length === 0}
            onClick={() =>
              download({
                name: `${flow}-space-time.svg`,
                content: diagram.current?.svg(`Packets of ${flow}`) ?? "",
                type: "image/svg+xml",
              })
            }
          >
            Save SVG
          </button>
        </span>
      </div>
      <Fault>{fault.value}</Fault>
      {part.value !== undefined && (
        <p class="moving-says">
          Running up to {choice.value.to_s} s again, for its packets: {Math.round(part.value * 100)} %
        </p>
      )}
      <p class="moving-says" role="status" id={id}>
        {part.value === undefined ? says(seen.value, pieces.value) : ""}
      </p>
      <div
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move and zoom the diagram
        tabIndex={0}
        aria-label="Time runs to the right, the nodes of the path are from top to bottom. Arrow keys move, plus and minus zoom, 0 shows all. The list below has the same information."
        aria-describedby={id}
        onKeyDown={(event) => {
          if (diagram.current?.key(event.key)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      >
        <canvas ref={canvas} class="diagram" />
      </div>
      {pieces.value.length > 0 && inSight.value && (
        <p class="moving-under">{viewSays(inSight.value, pieces.value, roundTrip_s.value)}</p>
      )}
      <p class="moving-under">
        {under.value && seen.value ? (
          <Prose text={inWords(under.value, seen.value)} names={ends(under.value, seen.value)} />
        ) : (
          "Point at a packet for its details."
        )}
      </p>
      {seen.value && <Listed seen={seen.value} view={inSight.value?.view} pieces={pieces.value} />}
    </section>
  );
}

interface Choice {
  flow: number;
  from_s: number;
  to_s: number;
}

function Chooser(props: {
  flows: string[];
  end: number;
  choice: Choice;
  moments: Moment[];
  /** The kind of the shown moment; undefined for a window that the user selected. */
  kind: Moment["kind"] | undefined;
  choose(next: Moment["kind"]): void;
  isRunning: boolean;
  take(next: Choice): void;
}) {
  const { flows, end, choice, moments, kind, choose, isRunning, take } = props;
  const fault = useSignal("");
  return (
    <form
      class="moving-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRunning) {
          return;
        }
        const given = new FormData(event.currentTarget);
        const [from_s, to_s] = [Number(given.get("from")), Number(given.get("to"))];
        fault.value =
          from_s < to_s ? "" : `from ${from_s} s to ${to_s} s is not a valid window: the end must be after the start`;
        if (!fault.value) {
          take({ flow: Number(given.get("flow")), from_s, to_s });
        }
      }}
    >
      <label>
        Flow{" "}
        <select name="flow" value={choice.flow}>
          <Options options={flows.slice(0, MOST_FLOWS).map((name, index) => [String(index), name])} />
        </select>
      </label>
      {flows.length > MOST_FLOWS && <span class="quiet">the first {MOST_FLOWS} flows</span>}
      {moments.length > 0 && (
        <label>
          Moment{" "}
          <select value={kind ?? ""} onChange={({ currentTarget }) => choose(currentTarget.value as Moment["kind"])}>
            {kind === undefined && <option value="">selected window</option>}
            <Options options={moments.map((one) => [one.kind, momentSays(one)])} />
          </select>
        </label>
      )}
      <label>
        from <input type="number" name="from" min={0} max={end} step="any" defaultValue={String(choice.from_s)} /> s
      </label>
      <label>
        to <input type="number" name="to" min={0} max={end} step="any" defaultValue={String(choice.to_s)} /> s
      </label>
      <button type="submit" class="primary" aria-disabled={isRunning}>
        Show
      </button>
      {fault.value && (
        <span class="bad" role="alert">
          {fault.value}
        </span>
      )}
    </form>
  );
}

/** Describes how many packets were recorded: in the diagram, and still in transit at the end of the window. */
function says(seen: Seen | undefined, pieces: Piece[]): string {
  if (!seen) {
    return "";
  }
  const { kept } = seen.hops;
  if (kept.length === 0) {
    return "No packet of this flow is in transit in this window.";
  }
  const count = (hops: Hop[]) => new Set(hops.map(({ packet }) => packet)).size;
  const shown = pieces.map(({ hop }) => hop);
  const again = count(shown.filter((hop) => hop.again));
  const dropped = new Set(shown.filter((hop) => hop.isDropped)).size;
  const rest = count(kept) - count(shown);
  const late = rest > 0 ? `; ${grouped(rest)} more are in transit at the end of the window` : "";
  const cut = seen.isCut ? "; there were more: select a shorter window" : "";
  return `${grouped(count(shown))} packets, ${again} retransmitted, ${dropped} dropped${late}${cut}`;
}

/** Describes a packet: sequence numbers count from the first byte of the flow. */
function inWords({ hop }: Piece, { nodes, first, hops }: Seen): string {
  const from = nodes[hop.from] ?? "";
  const to = nodes[hop.to] ?? "…";
  const number = (value: number, base: number | undefined) =>
    base === undefined ? String(value) : (value - base).toLocaleString("en");
  const base = first ?? hops.numbers.first.get(hop.flow);
  const what =
    hop.backward || hop.len === 0
      ? hop.backward
        ? `ACK ${number(hop.ack, base)}`
        : "control"
      : `seq ${number(hop.seq, base)}, len ${hop.len} B${hop.again ? ", retransmitted" : ""}`;
  const wait = hop.depart > hop.start ? `, waits ${((hop.depart - hop.start) * 1e3).toFixed(3)} ms` : "";
  const end = hop.isDropped ? `dropped${hop.cause ? ` (${hop.cause})` : ""}` : "arrives";
  return `${what}: ${from} → ${to}, at ${hop.start.toFixed(6)} s${wait}, ${end} at ${hop.end.toFixed(6)} s`;
}

function ends({ hop }: Piece, { nodes }: Seen): string[] {
  return [nodes[hop.from] ?? "", nodes[hop.to] ?? ""];
}

/** Describes the part in view: its time, also in round trips, its packets, and the number drawn. */
function viewSays({ view, packets, drawn }: InSight, pieces: Piece[], roundTrip_s: number | undefined): string {
  const { from_s, to_s } = view;
  const rounds = roundTrip_s
    ? ` (${number((to_s - from_s) / roundTrip_s, 2)} round trips of ${time(Number(roundTrip_s.toPrecision(3)))})`
    : "";
  const all = new Set(pieces.map(({ hop }) => hop.packet)).size;
  const some = drawn < packets ? `; only ${grouped(drawn)} are drawn, so that they can be distinguished` : "";
  return `In view: ${from_s.toFixed(3)} s to ${to_s.toFixed(3)} s${rounds}, ${grouped(packets)} of ${grouped(all)} packets${some}`;
}

function Listed({ seen, pieces, view }: { seen: Seen; pieces: Piece[]; view: View | undefined }) {
  const shown = pieces.filter(
    ({ kind, from, to }) => kind === "goes" && (!view || (to.time >= view.from_s && from.time <= view.to_s)),
  );
  return (
    <details class="moving-links">
      <summary>Packets in view, as text</summary>
      <ol>
        {shown.slice(0, LISTED).map((piece) => (
          <li key={`${piece.hop.packet} ${piece.hop.start}`}>
            <Prose text={inWords(piece, seen)} names={ends(piece, seen)} />
          </li>
        ))}
      </ol>
      {shown.length > LISTED && (
        <p class="quiet">and {(shown.length - LISTED).toLocaleString("en")} more; zoom in to list them</p>
      )}
    </details>
  );
}
