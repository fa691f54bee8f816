/** A run of one scenario in a frame: a button, charts, numbers, the hash, and a link to the full studio. */

import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { Fault } from "../app/fault.tsx";
import { Options } from "../app/fields.tsx";
import { presets } from "../app/presets.ts";
import { Scrolled, Table } from "../app/table.tsx";
import { applyTheme, isDark } from "../app/theme.ts";
import { engine } from "../engine/here.ts";
import type { ScenarioInput } from "../engine/protocol.ts";
import { drawn, type Figure } from "../save/figure.ts";
import { type WholeRun, wholeRun } from "../save/whole.ts";
import { figuresOf, rowsOf } from "./charts.ts";
import { isLink, read, type Shared, written } from "./link.ts";
import { wishOf } from "./parameters.ts";

const wish = wishOf(location.search);
const scenario = signal<Shared | undefined>(undefined);
const fault = signal<string | undefined>(undefined);
const run = signal<WholeRun | undefined>(undefined);
const isRunning = signal(false);
/** The algorithm of all flows; empty for the scenario's. */
const congestion = signal("");
const algorithms = signal<string[]>([]);
const width = signal(document.documentElement.clientWidth);
const studio = signal("./");

const title = computed(() => /^\s*name\s*=\s*"([^"\n]*)"/m.exec(scenario.value?.toml ?? "")?.[1] ?? "scenario");
const figures = computed(() => (run.value ? figuresOf(run.value) : []));

async function open(): Promise<void> {
  try {
    scenario.value = isLink(location.hash) ? await read(location.hash) : preset();
    const shared = { ...scenario.value, ...(seed() === undefined ? {} : { seed: seed() as number }) };
    studio.value = `./${await written(await changed(shared))}`;
    const own = engine();
    algorithms.value = (await own.ask({ op: "about" })).congestion.map(({ name }) => name);
    own.close();
    if (wish.isAtOnce) {
      await start();
    }
  } catch (error) {
    fault.value = error instanceof Error ? error.message : String(error);
  }
}

function seed(): number | undefined {
  return wish.seed ?? scenario.peek()?.seed;
}

function preset(): Shared {
  const name = wish.scenario ?? "geo";
  const found = presets.find((one) => one.name === name);
  if (!found) {
    throw new Error(`there is no scenario "${name}"; there are ${presets.map((one) => one.name).join(", ")}`);
  }
  return { toml: found.toml };
}

/** Returns the scenario as text with the changes of the address, for the studio. */
async function changed(shared: Shared): Promise<Shared> {
  if (wish.sets.length === 0) {
    return shared;
  }
  const own = engine();
  try {
    const { scenario } = await own.ask({ op: "check", ...inputOf(shared, wish.sets) });
    return scenario ? { ...shared, toml: (await own.ask({ op: "write", scenario })).toml } : shared;
  } finally {
    own.close();
  }
}

function inputOf({ toml, files }: Shared, sets: [string, string][]): ScenarioInput {
  return { toml, files: files ?? {}, sets };
}

/** Returns changes that set one algorithm for all flows, even if they name their own. */
async function chosen(shared: Shared): Promise<[string, string][]> {
  const name = congestion.peek();
  if (!name) {
    return wish.sets;
  }
  const own = engine();
  const { scenario } = await own.ask({ op: "check", ...inputOf(shared, wish.sets) });
  own.close();
  const flows = Array.isArray(scenario?.flows)
    ? (scenario.flows as { congestion?: unknown; tcp?: Record<string, unknown> }[])
    : [];
  const named = flows.flatMap(({ congestion, tcp }, at): [string, string][] =>
    congestion !== undefined || tcp?.congestion !== undefined ? [[`flows.${at}.congestion`, name]] : [],
  );
  return [...wish.sets, ["defaults.tcp.congestion", name], ...named];
}

async function start(): Promise<void> {
  const shared = scenario.peek();
  if (!shared || isRunning.peek()) {
    return;
  }
  isRunning.value = true;
  fault.value = undefined;
  try {
    run.value = await wholeRun(inputOf(shared, await chosen(shared)), { seed: seed() });
  } catch (error) {
    fault.value = error instanceof Error ? error.message : String(error);
  } finally {
    isRunning.value = false;
  }
}

function Embed() {
  const hash = run.value?.summary.result_hash;
  return (
    <main class="embed">
      <header>
        <h1>{title}</h1>
        <label>
          Congestion control
          <select value={congestion.value} onChange={(event) => (congestion.value = event.currentTarget.value)}>
            <option value="">as in the scenario</option>
            <Options options={algorithms.value} />
          </select>
        </label>
        <button
          type="button"
          class="primary"
          disabled={!scenario.value || isRunning.value}
          onClick={() => void start()}
        >
          {isRunning.value ? "Running …" : "Run"}
        </button>
        <a href={studio.value} target="_blank" rel="noopener">
          Open in the studio
        </a>
      </header>
      <Fault>{fault.value}</Fault>
      <div class="charts">
        {figures.value.map((figure) => (
          <Chart key={figure.title} figure={figure} />
        ))}
      </div>
      <div role="status">{run.value && <Numbers run={run.value} />}</div>
      {hash !== undefined && (
        <p class="hash">
          result hash <code>{String(hash)}</code>, the same for this scenario, seed and version on any machine
        </p>
      )}
      {!run.value && !fault.value && <p class="quiet">The run is simulated in this page when you press Run.</p>}
    </main>
  );
}

function Chart({ figure }: { figure: Figure }) {
  const columns = width.value >= 900 ? 3 : 1;
  const wide = Math.max(280, Math.floor((width.value - 24 - 12 * (columns - 1)) / columns));
  const svg = drawn(figure, { width: wide, height: 210, isDark: isDark() });
  const names = figure.lines.map(({ name }) => name).join(", ");
  return (
    <img
      src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
      width={wide}
      height={210}
      alt={`${figure.title} in ${figure.unit} over time: ${names}. The table below has the values.`}
    />
  );
}

function Numbers({ run }: { run: WholeRun }) {
  const { heads, rows } = rowsOf(run);
  return (
    <Scrolled label="Values" kind="wide">
      <Table label="Flows" heads={heads}>
        {rows.map(([name, ...cells]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td key={heads[at + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </Table>
    </Scrolled>
  );
}

applyTheme();
addEventListener("resize", () => {
  width.value = document.documentElement.clientWidth;
});
addEventListener("hashchange", () => location.reload());
const root = document.getElementById("run");
if (root) {
  render(<Embed />, root);
}
void open();
