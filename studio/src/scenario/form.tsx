import "./form.css";
import { Cross } from "../app/fields.tsx";
import { Name } from "../app/name.tsx";
import { NodeNames } from "./controls.tsx";
import { Row, Table, Value } from "./field.tsx";
import { tables } from "./network.ts";
import { inside, isTable, written } from "./path.ts";
import { messages } from "./problems.tsx";
import type { Schemas } from "./schema.ts";
import type { Field } from "./shapes.ts";
import { change, schemas, values } from "./values.ts";

/** Sections in the order in which an experiment is usually planned. */
const ORDER = [
  "links",
  "flows",
  "topology",
  "defaults",
  "media",
  "nodes",
  "constellation",
  "stations",
  "proxies",
  "tunnels",
  "routing",
  "record",
];
const USUAL = new Set(["links", "flows", "defaults"]);
const RUN = ["name", "duration", "seed", "ip"];

/** The scenario as a form. */
export default function Form() {
  const known = schemas.value;
  if (!known) {
    return <p class="waiting">Loading the schema …</p>;
  }
  const { now, isCurrent } = values.value;
  const fields = known.fields(known.root, now);
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const sections = ORDER.flatMap((key) => byKey.get(key) ?? []);
  const isShown = ({ key }: Field) => key in now || (USUAL.has(key) && !("topology" in now && key === "links"));
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()} aria-label="Scenario">
      <fieldset disabled={!isCurrent}>
        <legend class="unseen">Settings</legend>
        <section>
          <h3>Run</h3>
          <div class="table">
            {RUN.flatMap((key) => byKey.get(key) ?? []).map((field) => (
              <Row key={field.key} known={known} path={[field.key]} field={field} value={now[field.key]} />
            ))}
          </div>
        </section>
        {sections.filter(isShown).map((field) => (
          <Section key={field.key} known={known} field={field} value={now[field.key]} />
        ))}
        <div class="adders">
          {sections
            .filter((field) => !isShown(field))
            .map((field) => (
              <button
                type="button"
                key={field.key}
                title={known.resolve(field.schema).description}
                onClick={() => add(known, field, undefined)}
              >
                + {field.key}
              </button>
            ))}
        </div>
      </fieldset>
      <NodeNames />
    </form>
  );
}

function Section({ known, field, value }: { known: Schemas; field: Field; value: unknown }) {
  const shape = known.fit(field.schema, value ?? []);
  const isList = known.shapes(field.schema)[0]?.kind === "list";
  const items = isList && Array.isArray(value) ? value : [];
  const table = known.shapes(field.schema).find(({ kind }) => kind === "table");
  return (
    <section>
      <h3>
        <code>{heading(field.key, isList)}</code>
        <span class="quiet">{known.resolve(field.schema).description}</span>
        {value !== undefined && !isList && field.key !== "defaults" && (
          <Cross label={`Remove ${field.key}`} act={() => void change([field.key], null)} />
        )}
      </h3>
      {isList ? (
        <>
          {items.map((item, index) => (
            <Item key={index} known={known} field={field} index={index} item={item} isOpen={items.length < 6} />
          ))}
          <button type="button" onClick={() => add(known, field, value)}>
            + {field.key.replace(/s$/, "").replace("proxie", "proxy").replace("media", "medium")}
          </button>
        </>
      ) : field.key === "defaults" && table ? (
        <Defaults known={known} field={field} value={value} />
      ) : shape?.kind === "table" && isTable(value) && known.shapes(field.schema).length === 1 ? (
        <Table known={known} path={[field.key]} shape={shape} value={value} />
      ) : (
        <Value known={known} path={[field.key]} schema={field.schema} value={value} name={field.key} />
      )}
    </section>
  );
}

/** Defaults of flows: TCP's are shown initially, as nearly every experiment sets some. */
function Defaults({ known, field, value }: { known: Schemas; field: Field; value: unknown }) {
  const tcp = inside(value, "tcp");
  const schema = known.at(["defaults", "tcp"], {}) ?? {};
  const shape = known.shapes(schema).find(({ kind }) => kind === "table");
  const rest = isTable(value) ? Object.keys(value).filter((key) => key !== "tcp") : [];
  const fields = known.fields(field.schema, value).filter(({ key }) => rest.includes(key));
  return (
    <>
      {shape && <Table known={known} path={["defaults", "tcp"]} shape={shape} value={isTable(tcp) ? tcp : {}} />}
      {fields.map((other) => (
        <Row
          key={other.key}
          known={known}
          path={["defaults", other.key]}
          field={other}
          value={inside(value, other.key)}
        />
      ))}
    </>
  );
}

interface ItemProps {
  known: Schemas;
  field: Field;
  index: number;
  item: unknown;
  isOpen?: boolean;
}

/** The form of one item in a list of tables, such as a link. */
export function Item({ known, field, index, item, isOpen = true }: ItemProps) {
  const path = [field.key, index];
  const name = written(path);
  const schema = known.at(path, values.value.now) ?? {};
  const shape = known.fit(schema, item);
  const worst = [...messages.value].filter(([where]) => where === name || where.startsWith(`${name}.`));
  const isBad = worst.some(([, said]) => said.some(({ isError }) => isError));
  return (
    <details class="item" open={isOpen}>
      <summary>
        <code>{name}</code>{" "}
        <span class="gist">
          <Name name={gist(field.key, item)} />
        </span>
        {worst.length > 0 && <span class={isBad ? "dot bad" : "dot warn"}>{isBad ? "error" : "warning"}</span>}
      </summary>
      {shape && isTable(item) && <Table known={known} path={path} shape={shape} value={item} />}
      <button type="button" class="plain" onClick={() => void change(path, null)}>
        Remove {name}
      </button>
    </details>
  );
}

/** Describes an item in a few words. */
export function gist(section: string, item: unknown): string {
  if (!isTable(item)) {
    return "";
  }
  const { between, from, to, rate, name, node, congestion } = item;
  const words = (...parts: unknown[]) => parts.filter((part) => typeof part === "string" && part).join(" · ");
  if (section === "links") {
    return words(Array.isArray(between) ? between.join(" – ") : "", rate);
  }
  return section === "flows" ? words(name, from && to ? `${from} → ${to}` : "", congestion) : words(name ?? node, rate);
}

/** Adds a section, or an item to a list of tables. */
function add(known: Schemas, field: Field, value: unknown): void {
  const shape = known.shapes(field.schema)[0];
  if (shape?.kind === "list") {
    const index = Array.isArray(value) ? value.length : 0;
    const item = known.skeleton(shape.items[0] ?? {});
    void change([field.key, index], prepared(field.key, item));
  } else {
    void change([field.key], known.skeleton(field.schema));
  }
}

/** Returns a new link or flow with existing endpoints, so that it is valid immediately. */
function prepared(section: string, item: unknown): unknown {
  if (!isTable(item)) {
    return item;
  }
  const ends = tables(values.value.now.links).map(({ between }) => between);
  const first = ends[0];
  const last = ends.at(-1);
  if (section === "links") {
    const at = Array.isArray(last) ? last[1] : "client";
    return { ...item, between: [at, at === "client" ? "server" : `node${ends.length + 2}`] };
  }
  if (section === "flows" && Array.isArray(first) && Array.isArray(last)) {
    return { ...item, from: first[0], to: last[1] };
  }
  return item;
}

/** Returns a section's heading as in the text. */
function heading(key: string, isList: boolean): string {
  return isList ? `[[${key}]]` : key === "defaults" ? "[defaults.tcp]" : `[${key}]`;
}
