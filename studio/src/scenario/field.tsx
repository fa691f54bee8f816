import { Cross, Options } from "../app/fields.tsx";
import { FlagControl, TextControl, TomlControl, WordControl } from "./controls.tsx";
import { inside, isTable, type Path, written } from "./path.ts";
import { messages } from "./problems.tsx";
import { Says } from "./says.tsx";
import type { Schemas } from "./schema.ts";
import { type Field, label, type Schema, type Shape } from "./shapes.ts";
import { change } from "./values.ts";

/** Keys that a form shows even if the text does not have them, by the type of their table. */
const MAIN: Record<string, string[]> = {
  LinkSpec: ["queue", "loss"],
  FlowSpec: ["congestion", "transfer", "start"],
  Options: ["congestion", "receive_buffer"],
  Topology: ["queue", "loss"],
  NodeSpec: ["at"],
  Medium: ["rate", "power", "routing"],
  FlowTemplate: ["congestion", "transfer"],
};

interface ValueProps {
  known: Schemas;
  path: Path;
  schema: Schema;
  value: unknown;
  name: string;
}

/** A row of a table: its key, control, help and the engine's messages. */
export function Row({ known, path, field, value }: { known: Schemas; path: Path; field: Field; value: unknown }) {
  const name = written(path);
  const said = messages.value.get(name) ?? [];
  const { description } = known.resolve(field.schema);
  const isSet = value !== undefined;
  return (
    <div class={`row ${isSet ? "set" : "unset"}`}>
      <label class="key" for={`in-${name}`}>
        {field.key}
        {field.isRequired && (
          <span class="needed" title="required" aria-hidden="true">
            *
          </span>
        )}
      </label>
      <div class="control">
        <Value known={known} path={path} schema={field.schema} value={value} name={field.key} />
        <p class="help" id={`help-${name}`}>
          <Says text={description} />
        </p>
        <div id={`said-${name}`}>
          {said.map(({ message, isError }) => (
            <p key={message} class={isError ? "message bad" : "message warn"}>
              {message}
            </p>
          ))}
        </div>
      </div>
      {isSet && !field.isRequired && <Remove path={path} />}
    </div>
  );
}

function Remove({ path }: { path: Path }) {
  const label = `Remove ${written(path)}`;
  return <Cross look="icon remove" label={label} title="Remove" act={() => void change(path, null)} />;
}

/** The control of a value, with a choice between its possible forms. */
export function Value({ known, path, schema, value, name }: ValueProps) {
  const shapes = known.shapes(schema);
  const { default: usual } = known.resolve(schema);
  const shape = value !== undefined ? known.fit(schema, value) : usual != null ? known.fit(schema, usual) : shapes[0];
  const control = { path, value, usual, name };
  return (
    <>
      {shapes.length > 1 && (
        <select
          class="form-of"
          aria-label={`Form of ${written(path)}`}
          value={String(shape ? shapes.indexOf(shape) : 0)}
          onChange={(event) => {
            const chosen = shapes[Number(event.currentTarget.value)];
            void change(path, known.skeleton(schema, chosen));
          }}
        >
          <Options options={shapes.map((other, index) => [String(index), label(other, shapes)])} />
        </select>
      )}
      {controlOf(known, schema, shape, control)}
    </>
  );
}

type Control = { path: Path; value: unknown; usual: unknown; name: string };

function controlOf(known: Schemas, schema: Schema, shape: Shape | undefined, control: Control) {
  const { path, value } = control;
  switch (shape?.kind) {
    case "word":
      return <WordControl {...control} shape={shape} />;
    case "flag":
      return <FlagControl {...control} />;
    case "number":
    case "text":
      return isTable(value) || Array.isArray(value) ? (
        <TomlControl {...control} />
      ) : (
        <TextControl {...control} shape={shape} />
      );
    case "list":
      return <List known={known} schema={schema} shape={shape} control={control} />;
    case "table":
      if (value === undefined) {
        return <Unset known={known} schema={schema} shape={shape} control={control} />;
      }
      return isTable(value) ? (
        <Table known={known} path={path} shape={shape} value={value} />
      ) : (
        <TomlControl {...control} />
      );
    default:
      return <TomlControl {...control} />;
  }
}

interface OfShape<S extends Shape> {
  known: Schemas;
  schema: Schema;
  shape: S;
  control: Control;
}

function Unset({ known, schema, shape, control }: OfShape<Shape>) {
  const { path, name } = control;
  return (
    <button type="button" id={`in-${written(path)}`} onClick={() => void change(path, known.skeleton(schema, shape))}>
      Set {name}
    </button>
  );
}

/** The rows of a table: keys in the text, required and common keys, and a choice of the others. */
export function Table({
  known,
  path,
  shape,
  value,
}: {
  known: Schemas;
  path: Path;
  shape: Shape;
  value: Record<string, unknown>;
}) {
  if (shape.kind !== "table") {
    return null;
  }
  const usual = new Set(MAIN[shape.of] ?? []);
  const fields = shape.fields.filter(({ key }) => !(key in shape.marks));
  const shown = fields.filter(({ key, isRequired }) => key in value || isRequired || usual.has(key));
  const others = fields.filter((field) => !shown.includes(field));
  const alien = Object.keys(value).filter((key) => !shape.fields.some((field) => field.key === key));
  return (
    <div class="table">
      {order(shown, usual).map((field) => (
        <Row key={field.key} known={known} path={[...path, field.key]} field={field} value={inside(value, field.key)} />
      ))}
      {alien.map((key) => (
        <Row
          key={key}
          known={known}
          path={[...path, key]}
          field={{ key, schema: {}, isRequired: false }}
          value={value[key]}
        />
      ))}
      {others.length > 0 && <More known={known} path={path} others={others} />}
    </div>
  );
}

/** Sorts required keys first, then the common ones. */
function order(fields: Field[], usual: Set<string>): Field[] {
  const rank = ({ key, isRequired }: Field) => (isRequired ? 0 : usual.has(key) ? 1 : 2);
  return [...fields].sort((a, b) => rank(a) - rank(b));
}

function More({ known, path, others }: { known: Schemas; path: Path; others: Field[] }) {
  return (
    <select
      class="more"
      aria-label={`Add a setting to ${written(path) || "the scenario"}`}
      value=""
      onChange={(event) => {
        const field = others.find(({ key }) => key === event.currentTarget.value);
        event.currentTarget.value = "";
        if (field) {
          void change([...path, field.key], known.skeleton(field.schema));
        }
      }}
    >
      <option value="">+ setting</option>
      {others.map(({ key, schema }) => (
        <option key={key} value={key}>
          {key} – {(known.resolve(schema).description ?? "").split("\n")[0]?.slice(0, 90)}
        </option>
      ))}
    </select>
  );
}

function List({ known, schema, shape, control }: OfShape<Shape & { kind: "list" }>) {
  const { path, value, name } = control;
  if (value === undefined && shape.least > 0) {
    return <Unset known={known} schema={schema} shape={shape} control={control} />;
  }
  const items = Array.isArray(value) ? value : [];
  const itemSchema = (index: number) => shape.items[Math.min(index, shape.items.length - 1)] ?? {};
  const isFixed = shape.least === shape.most;
  const isFlat = !known.shapes(itemSchema(0)).some(({ kind }) => kind === "table" || kind === "list");
  return (
    <ol class={isFlat ? "list flat" : "list"}>
      {items.map((item, index) => (
        <li key={index}>
          <Value
            known={known}
            path={[...path, index]}
            schema={itemSchema(index)}
            value={item}
            name={`${name} ${index + 1}`}
          />
          {!isFixed && <Remove path={[...path, index]} />}
        </li>
      ))}
      {!isFixed && items.length < shape.most && (
        <li>
          <button
            type="button"
            id={items.length === 0 ? `in-${written(path)}` : undefined}
            onClick={() => {
              const item = known.skeleton(itemSchema(items.length));
              void change(value === undefined ? path : [...path, items.length], value === undefined ? [item] : item);
            }}
          >
            + {name}
          </button>
        </li>
      )}
    </ol>
  );
}
