import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Name, Prose } from "../app/name.tsx";
import { live } from "../app/state.ts";
import { Table } from "../app/table.tsx";
import { DASHES, isDark, SERIES } from "../app/theme.ts";
import { Chart } from "./chart.ts";
import { chosen } from "./chosen.ts";
import { ends, type Figure, figures, figuresOf, type Line, short, valueAt } from "./figures.ts";
import type { Live } from "./live.ts";
import { cause, STATES } from "./marks.ts";
import { afterKey, axisEnd, cursor, type Span, within, zoom } from "./span.ts";

/** Total number of points of all lines of a chart, during the run and when it is paused. */
const POINTS = { running: 1600, standing: 6400 };
/** Minimum and maximum number of points of a line. */
const FEWEST = 200;
const MOST = 1200;

function pointsOf(run: Live, lines: number): number {
  const all = run.state.peek() === "running" ? POINTS.running : POINTS.standing;
  return Math.max(FEWEST, Math.min(MOST, document.documentElement.clientWidth, Math.round(all / Math.max(1, lines))));
}

/** Returns the end of the time axis in charts of the entire run. */
function endOf(run: Live): number {
  const { value: result } = run.result;
  return result ? result.summary.simulated_s || 1 : axisEnd(run.now.value, run.started.end_s);
}

function spanOf(run: Live): Span {
  return zoom.value ?? { from_s: 0, to_s: endOf(run) };
}

const moves = {
  now: () => (live.peek() ? spanOf(live.peek() as Live) : { from_s: 0, to_s: 1 }),
  show(span: Span | undefined) {
    const run = live.peek();
    if (run) {
      zoom.value = span && within(span, endOf(run));
    }
  },
};

/** Minimum milliseconds between two updates of the charts while the run advances. */
const PAUSE = 100;

/** Updates the charts from the run, up to ten times per second while it advances, with one query at a time. */
function keepFigures(): () => void {
  let isAsked = false;
  let isOld = false;
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = () => {
    frame = 0;
    const run = live.peek();
    if (!run || run.state.peek() === "failed") {
      return;
    }
    isAsked = true;
    isOld = false;
    askedAt = performance.now();
    const shown = chosen(run);
    const points = pointsOf(run, Math.max(shown.flows.length, shown.links.length));
    figuresOf(run, shown, spanOf(run), points)
      .then((next) => {
        if (live.peek() === run) {
          figures.value = next;
        }
      })
      // A run that ended meanwhile has reported it.
      .catch(() => undefined)
      .finally(() => {
        isAsked = false;
        if (isOld) {
          schedule();
        }
      });
  };
  const schedule = () => {
    isOld = true;
    const isRunning = live.peek()?.state.peek() === "running";
    const wait = isRunning ? askedAt + PAUSE - performance.now() : 0;
    if (!isAsked && frame === 0) {
      clearTimeout(timer);
      if (wait > 0) {
        timer = setTimeout(schedule, wait);
      } else {
        frame = requestAnimationFrame(ask);
      }
    }
  };
  const end = effect(() => {
    const run = live.value;
    if (run) {
      void run.now.value;
      void run.round.value;
      void run.result.value;
      void run.state.value;
      void spanOf(run);
      void chosen(run);
      schedule();
    } else {
      figures.value = [];
    }
  });
  return () => {
    end();
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** All charts of a run over one axis of time. */
export default function Charts() {
  useEffect(keepFigures, []);
  const keys = useComputed(() => figures.value.map(({ key }) => key).join(" "));
  const run = live.value;
  if (!run || keys.value === "") {
    return <div class="charts empty" />;
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of charts that takes keys
    <div
      class="charts"
      role="group"
      aria-label="Charts over time. Plus and minus zoom, arrows move, 0 shows the entire run"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: charts zoom by keys
      tabIndex={0}
      onKeyDown={(event) => {
        const next = afterKey(event.key, moves.now(), endOf(run));
        if (next !== null && event.target === event.currentTarget) {
          event.preventDefault();
          event.stopPropagation();
          zoom.value = next;
        }
      }}
    >
      {keys.value.split(" ").map((key) => (
        <Shown key={key} of={key} />
      ))}
      <ZoomLine />
    </div>
  );
}

function ZoomLine() {
  const span = zoom.value;
  return (
    <p class="zoomed quiet">
      {span ? (
        <>
          <span class="mono">
            {short(span.from_s)} to {short(span.to_s)} s
          </span>{" "}
          <button type="button" class="plain" onClick={() => (zoom.value = undefined)}>
            Show the entire run
          </button>
        </>
      ) : (
        <>
          <span class="by-pointer">
            Time in seconds. Drag to zoom, double-click to see all; shift and wheel, or + − ← → 0 while the charts have
            the focus.
          </span>
          <span class="by-touch">Time in seconds. Two fingers zoom and move, two taps show all.</span>
        </>
      )}
    </p>
  );
}

function Shown({ of }: { of: string }) {
  const host = useRef<HTMLDivElement>(null);
  const figure = useComputed(() => figures.value.find(({ key }) => key === of));
  useEffect(() => {
    const place = host.current;
    if (!place) {
      return;
    }
    const chart = new Chart(place, moves);
    const end = effect(() => {
      void zoom.value;
      if (figure.value) {
        chart.show(figure.value, isDark() ? "dark" : "light");
      }
    });
    return () => {
      end();
      chart.destroy();
    };
  }, [figure]);
  const now = figure.value;
  if (!now) {
    return null;
  }
  return (
    <figure class={`chart ${of}`}>
      <figcaption>
        <h2>
          {now.title} {now.unit && <span class="unit">{now.unit}</span>}
        </h2>
        <Legend figure={now} />
      </figcaption>
      <div class="plot" ref={host} role="img" aria-label={now.says} data-rows={Math.min(8, now.states?.length ?? 0)} />
      <Numbers figure={now} />
    </figure>
  );
}

function Legend({ figure }: { figure: Figure }) {
  const time = cursor.value;
  const there = new Set(
    figure.states?.flatMap(({ states }) => [...new Set(states.state)].map((at) => states.names[at])),
  );
  const states = Object.entries(STATES).filter(([name]) => there.has(name));
  const causes = figure.losses ? [...new Set(figure.losses.cause)].map((at) => figure.losses?.causes[at] ?? "") : [];
  return (
    <ul class="legend">
      {figure.lines.map((line) => (
        <li key={line.name}>
          <Sample line={line} />
          <Name name={line.name} />
          {time !== undefined && <span class="value">{short(valueAt(line, time))}</span>}
        </li>
      ))}
      {figure.bounds.map(({ name, y }) => (
        <li key={name}>
          <svg viewBox="0 0 22 8" aria-hidden="true">
            <line class="bound" x1="0" x2="22" y1="4" y2="4" />
          </svg>
          {name} {short(y)}
        </li>
      ))}
      {causes.map((name) => (
        <li key={name}>
          <span class={`ink-${cause(name).colour}`} aria-hidden="true">
            {cause(name).sign}
          </span>
          lost: {cause(name).says}
        </li>
      ))}
      {figure.states && states.length === 0 && <li>open: no recovery</li>}
      {states.map(([name, ink]) => (
        <li key={name}>
          <span class={`ink-${ink}`} aria-hidden="true">
            {name === "loss" ? "▇" : "▅"}
          </span>
          {name}
        </li>
      ))}
    </ul>
  );
}

function Sample({ line }: { line: Line }) {
  const { at, isSolid } = line.looks;
  const dash = isSolid ? undefined : DASHES[at % DASHES.length]?.join(" ");
  return (
    <svg viewBox="0 0 22 8" aria-hidden="true">
      <line class={`line-${SERIES[at % SERIES.length]}`} x1="0" x2="22" y1="4" y2="4" stroke-dasharray={dash} />
    </svg>
  );
}

/** Returns the names in the sentence about a figure. */
function namesOf({ lines, states = [] }: Figure): string[] {
  return [...lines, ...states].map(({ name }) => name);
}

/** The text alternative: the numbers of the figure. */
function Numbers({ figure }: { figure: Figure }) {
  const isOpen = useSignal(false);
  return (
    <details class="numbers" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Values</summary>
      <p>
        <Prose text={figure.says} names={namesOf(figure)} />
      </p>
      {isOpen.value && figure.lines.length > 0 && (
        <Table label={`Values of ${figure.title}`} heads={[figure.unit, "minimum", "maximum", "at the end"]}>
          {figure.lines.map((line) => {
            const found = ends(line, figure.span);
            return (
              <tr key={line.name}>
                <th scope="row">
                  <Name name={line.name} />
                </th>
                <td>{short(found?.least ?? Number.NaN)}</td>
                <td>{short(found?.most ?? Number.NaN)}</td>
                <td>{short(found?.last ?? Number.NaN)}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </details>
  );
}
