/** Completion and explanation of a scenario's text, by its schema. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { about } from "../app/state.ts";
import type { Algorithm } from "../engine/protocol.ts";
import { nodeNames } from "./network.ts";
import { inside, type Path } from "./path.ts";
import { placeAt } from "./place.ts";
import type { Schemas } from "./schema.ts";
import type { Field, Schema } from "./shapes.ts";
import { schemas, values } from "./values.ts";

/** Returns the completions at the cursor. */
export function completions(context: CompletionContext): CompletionResult | null {
  const known = schemas.value;
  const place = placeAt(context.state.doc.toString(), context.pos);
  if (!known || !place) {
    return null;
  }
  const word = context.state.sliceDoc(place.from, context.pos);
  if (word === "" && !context.explicit && place.due !== "value") {
    return null;
  }
  const now = values.value.now;
  switch (place.due) {
    case "header":
      return { from: place.from, options: headers(known), validFor: /^[\w.-]*$/ };
    case "key": {
      const steps = word.split(".");
      const path = [...place.path, ...steps.slice(0, -1)];
      const from = context.pos - (steps.at(-1)?.length ?? 0);
      return { from, options: keys(known, path, now), validFor: /^[\w-]*$/ };
    }
    default:
      return { from: place.from, options: words(known, place.path, now), validFor: /^["\w+./ -]*$/ };
  }
}

/** Returns the headings of tables. */
export function headers(known: Schemas): Completion[] {
  return known.fields(known.root, {}).flatMap(({ key, schema }) => {
    const shapes = known.shapes(schema);
    const list = shapes.find((shape) => shape.kind === "list");
    const says = known.resolve(schema).description ?? "";
    if (list?.kind === "list") {
      return [{ label: key, apply: `${key}]]`, detail: "[[ ]]", info: says, type: "namespace" }];
    }
    const isTable = shapes.some((shape) => shape.kind === "table");
    const inner = key === "defaults" ? [{ label: "defaults.tcp", apply: "defaults.tcp]", type: "namespace" }] : [];
    return isTable ? [{ label: key, apply: `${key}]`, info: says, type: "namespace" }, ...inner] : [];
  });
}

/** Returns the keys that a table does not have yet, the required ones first. */
export function keys(known: Schemas, path: Path, now: unknown): Completion[] {
  const schema = known.at(path, now);
  if (!schema) {
    return [];
  }
  const value = path.reduce(inside, now);
  const there = new Set(Object.keys((value as object | undefined) ?? {}));
  return known
    .fields(schema, value)
    .filter(({ key }) => !there.has(key))
    .map((field) => keyOption(known, field));
}

function keyOption(known: Schemas, { key, schema, isRequired }: Field): Completion {
  const { description = "", default: usual } = known.resolve(schema);
  const by = usual === undefined || usual === null ? "" : `default ${JSON.stringify(usual)}`;
  return {
    label: key,
    apply: `${key} = `,
    detail: isRequired ? "needed" : by.slice(0, 40),
    info: description,
    type: "property",
    boost: isRequired ? 10 : 0,
  };
}

/** Returns the valid values of a key. */
export function words(known: Schemas, path: Path, now: unknown): Completion[] {
  const found = new Map<string, Completion>();
  for (const schema of known.all(path, now)) {
    for (const option of known.shapes(schema).flatMap((shape) => ofShape(known, shape, schema))) {
      found.set(option.label, found.get(option.label) ?? option);
    }
  }
  const options = [...found.values()];
  const last = path.findLast((step) => typeof step === "string");
  if (last === "from" || last === "to" || last === "between" || last === "node") {
    options.push(...nodeNames.value.map((name) => ({ label: JSON.stringify(name), type: "variable" })));
  }
  return options;
}

function ofShape(known: Schemas, shape: ReturnType<Schemas["shapes"]>[number], schema: Schema): Completion[] {
  const { default: usual } = known.resolve(schema);
  switch (shape.kind) {
    case "word":
      return shape.words.map(({ word, says }) => {
        const sentence = says || (shape.of === "Choice" ? algorithmSays(word) : "");
        return { label: JSON.stringify(word), info: sentence, detail: usual === word ? "default" : "", type: "enum" };
      });
    case "flag":
      return ["true", "false"].map((label) => ({
        label,
        type: "keyword",
        detail: String(usual) === label ? "default" : "",
      }));
    case "text":
      return shape.example
        ? [{ label: JSON.stringify(shape.example), detail: "example", info: shape.says, type: "text" }]
        : [];
    case "number":
      return typeof usual === "number" ? [{ label: String(usual), detail: "default", type: "constant" }] : [];
    case "table": {
      const skeleton = inline(known.skeleton(schema, shape));
      return [{ label: skeleton, info: shape.says, type: "class", boost: -5 }];
    }
    case "list":
      return [{ label: "[", type: "class", boost: -5 }];
  }
}

/** Describes an algorithm, from the engine's catalogue. */
export function algorithmSays(name: string): string {
  return algorithm(name)?.about ?? "";
}

export function algorithm(name: string): Algorithm | undefined {
  return about.value?.congestion.find((known) => known.name === name);
}

/** Formats a value for the position after a key. */
export function inline(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(inline).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(
      ([key, part]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${inline(part)}`,
    );
    return entries.length > 0 ? `{ ${entries.join(", ")} }` : "{}";
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Returns the schema's description of the key at a position. */
export function explain(text: string, position: number): string | undefined {
  const place = placeAt(text, position);
  const known = schemas.value;
  if (!known || !place || place.due === "header") {
    return undefined;
  }
  const word = /^[\w-]*/.exec(text.slice(place.from))?.[0] ?? "";
  const path = place.due === "key" ? [...place.path, ...word.split(".")] : place.path;
  const schema = known.at(path, values.value.now);
  return schema && known.resolve(schema).description;
}
