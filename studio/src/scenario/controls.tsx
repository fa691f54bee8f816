import { useSignal } from "@preact/signals";
import { Options } from "../app/fields.tsx";
import { algorithm, algorithmSays, inline } from "./complete.ts";
import { nodeNames } from "./network.ts";
import { type Path, written } from "./path.ts";
import { messages } from "./problems.tsx";
import type { Shape } from "./shapes.ts";
import { amount, inUnits, position, type Scale, STEPS, scaleOf, turned } from "./units.ts";
import { change, read } from "./values.ts";

export interface ControlProps {
  path: Path;
  value: unknown;
  /** The value that applies if the text has none. */
  usual: unknown;
}

/** Returns the attributes that connect a control with its label, help and messages. */
export function ties(path: Path) {
  const name = written(path);
  const isBad = messages.value.get(name)?.some(({ isError }) => isError) ?? false;
  return {
    id: `in-${name}`,
    "aria-label": name,
    "aria-describedby": `help-${name} said-${name}`,
    "aria-invalid": isBad,
  };
}

const WITH_SLIDER = new Set(["rate", "delay", "loss", "queue", "limit", "packet_error_rate", "bit_error_rate"]);

/** Returns the slider's scale at a path, for values that most experiments vary. */
function sliderAt(path: Path, shape: Shape, value: unknown): Scale | undefined {
  const keys = path.filter((step): step is string => typeof step === "string");
  const last = keys.at(-1) ?? "";
  const key = last === "forward" || last === "backward" ? keys.at(-2) : last;
  return key && WITH_SLIDER.has(key) ? scaleOf(shape.of, value) : undefined;
}

/** A text or a number, with a slider next to it where one helps. */
export function TextControl({ path, value, usual, shape }: ControlProps & { shape: Shape }) {
  const draft = useSignal<string | undefined>(undefined);
  const isNumber = shape.kind === "number";
  const there = value === undefined ? "" : isNumber || typeof value === "string" ? String(value) : inline(value);
  const scale = sliderAt(path, shape, value ?? usual);
  const isNode = ["from", "to", "between", "node"].includes(String(path.findLast((step) => typeof step === "string")));
  const send = (text: string) => {
    const trimmed = text.trim();
    const number = Number(trimmed);
    void change(path, isNumber && trimmed !== "" && !Number.isNaN(number) ? number : text);
  };
  return (
    <span class="text-control">
      <input
        type="text"
        {...ties(path)}
        inputMode={isNumber ? "decimal" : "text"}
        autocomplete="off"
        spellcheck={false}
        list={isNode ? "node-names" : undefined}
        placeholder={hint(usual, shape)}
        value={draft.value ?? there}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          if (draft.value.trim() !== "") {
            send(draft.value);
          }
        }}
        onChange={(event) => {
          if (event.currentTarget.value.trim() === "" && value !== undefined) {
            void change(path, null);
          }
        }}
        onBlur={() => {
          draft.value = undefined;
        }}
      />
      {scale && <Slider path={path} scale={scale} value={value ?? usual} />}
    </span>
  );
}

/** Describes the value that applies by default, or an example. */
function hint(usual: unknown, shape: Shape): string {
  if (usual !== undefined && usual !== null) {
    return String(usual);
  }
  return shape.kind === "text" && shape.example ? `such as ${shape.example}` : "";
}

function Slider({ path, scale, value }: { path: Path; scale: Scale; value: unknown }) {
  const now = amount(scale, value);
  return (
    <input
      type="range"
      min={0}
      max={STEPS}
      step={1}
      aria-label={`${written(path)}, on a logarithmic scale`}
      aria-valuetext={now === undefined ? "not on the scale" : String(inUnits(scale, now))}
      value={now === undefined ? 0 : position(scale, now)}
      onInput={(event) => void change(path, turned(scale, value, event.currentTarget.valueAsNumber))}
    />
  );
}

/** A choice between keywords, with the meaning of the selected one. */
export function WordControl({ path, value, usual, shape }: ControlProps & { shape: Shape & { kind: "word" } }) {
  const isAlgorithm = shape.of === "Choice";
  const said = (word: unknown) =>
    isAlgorithm ? algorithmSays(String(word)) : (shape.words.find((known) => known.word === word)?.says ?? "");
  const meaning = said(value ?? usual);
  return (
    <span class="word-control">
      <select
        {...ties(path)}
        value={value === undefined ? "" : String(value)}
        onChange={(event) => void change(path, event.currentTarget.value === "" ? null : event.currentTarget.value)}
      >
        <option value="">{usual === undefined || usual === null ? "default" : `${usual} (default)`}</option>
        <Options options={shape.words.map(({ word }) => word)} />
      </select>
      {meaning && <span class="meaning">{meaning}</span>}
      {isAlgorithm && <Equations name={String(value ?? usual)} />}
    </span>
  );
}

/** The equations of an algorithm, and their source. */
function Equations({ name }: { name: string }) {
  const known = algorithm(name);
  return known ? (
    <details class="equations">
      <summary>Equations and source</summary>
      <pre>{known.equations.join("\n")}</pre>
      <p>{known.source}</p>
    </details>
  ) : null;
}

/** A choice between yes, no and the default. */
export function FlagControl({ path, value, usual }: ControlProps) {
  const by = typeof usual === "boolean" ? `${usual ? "yes" : "no"} (default)` : "default";
  return (
    <select
      {...ties(path)}
      value={value === undefined ? "" : String(value)}
      onChange={(event) => {
        const word = event.currentTarget.value;
        void change(path, word === "" ? null : word === "true");
      }}
    >
      <option value="">{by}</option>
      <option value="true">yes</option>
      <option value="false">no</option>
    </select>
  );
}

/** A value in TOML, for types without a control of their own. */
export function TomlControl({ path, value }: ControlProps) {
  const draft = useSignal<string | undefined>(undefined);
  return (
    <input
      type="text"
      class="mono"
      {...ties(path)}
      value={draft.value ?? (value === undefined ? "" : inline(value))}
      onInput={(event) => {
        draft.value = event.currentTarget.value;
        const parsed = read(`value = ${draft.value}`);
        if (parsed) {
          void change(path, parsed.value);
        }
      }}
      onBlur={() => {
        draft.value = undefined;
      }}
    />
  );
}

/** Suggestions for inputs of node names. */
export function NodeNames() {
  return (
    <datalist id="node-names">
      {nodeNames.value.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
