/** Shapes of a value (such as a keyword, a quantity or a table), from its JSON Schema. */

import { isTable } from "./path.ts";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  prefixItems?: Schema[];
  description?: string;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  title?: string;
}

export interface Word {
  word: string;
  says: string;
}

export interface Field {
  key: string;
  schema: Schema;
  isRequired: boolean;
}

export interface TableShape {
  kind: "table";
  fields: Field[];
  /** Keys whose value is fixed in this table. */
  marks: Record<string, unknown>;
  says: string;
  of: string;
}

/** The shape of a value. */
export type Shape =
  | { kind: "word"; words: Word[]; of: string }
  | { kind: "flag"; of: string }
  | { kind: "number"; isWhole: boolean; least?: number; most?: number; of: string }
  | { kind: "text"; example: string; says: string; of: string }
  | TableShape
  | { kind: "list"; items: Schema[]; least: number; most: number; of: string };

/** Returns the shapes of values that a schema allows, for a schema that has no alternatives (`anyOf`). */
export function plain(schema: Schema, of: string): Shape[] {
  const says = schema.description ?? "";
  if (typeof schema.const === "string") {
    return [{ kind: "word", words: [{ word: schema.const, says }], of }];
  }
  if (schema.enum) {
    const words = schema.enum.filter((word): word is string => typeof word === "string");
    return [{ kind: "word", words: words.map((word) => ({ word, says: "" })), of }];
  }
  const types =
    typeof schema.type === "string" ? [schema.type] : (schema.type ?? (schema.properties ? ["object"] : []));
  return types.flatMap((type) => ofType(type, schema, of));
}

function ofType(type: string, schema: Schema, of: string): Shape[] {
  const says = schema.description ?? "";
  switch (type) {
    case "boolean":
      return [{ kind: "flag", of }];
    case "integer":
    case "number": {
      const bounds = {
        ...(schema.minimum === undefined ? {} : { least: schema.minimum }),
        ...(schema.maximum === undefined ? {} : { most: schema.maximum }),
      };
      return [{ kind: "number", isWhole: type === "integer", ...bounds, of }];
    }
    case "string":
      return [{ kind: "text", example: typeof schema.examples?.[0] === "string" ? schema.examples[0] : "", says, of }];
    case "array": {
      const items = schema.prefixItems ?? [schema.items ?? {}];
      return [
        { kind: "list", items, least: schema.minItems ?? 0, most: schema.maxItems ?? Number.POSITIVE_INFINITY, of },
      ];
    }
    case "object":
      return [tableOf(schema, of)];
    default:
      return [];
  }
}

function tableOf(schema: Schema, of: string): TableShape {
  const required = new Set(schema.required);
  const properties = Object.entries(schema.properties ?? {});
  const fields = properties.map(([key, field]) => ({ key, schema: field, isRequired: required.has(key) }));
  const marks = properties.filter(([, field]) => field.const !== undefined).map(([key, field]) => [key, field.const]);
  return { kind: "table", fields, marks: Object.fromEntries(marks), says: schema.description ?? "", of };
}

/** Merges the keywords of all alternatives, and removes duplicates of other shapes. */
export function gathered(shapes: Shape[]): Shape[] {
  const all: Shape[] = [];
  for (const shape of shapes) {
    const before = all.find(({ kind }) => kind === shape.kind);
    if (shape.kind === "word" && before?.kind === "word") {
      all.splice(all.indexOf(before), 1, { ...before, words: [...before.words, ...shape.words] });
    } else if (!before || shape.kind === "table" || shape.kind === "text" || shape.kind === "list") {
      all.push(shape);
    }
  }
  return all;
}

/** Returns how similar a value is to a shape; 0 means not at all. */
export function likeness(shape: Shape, value: unknown): number {
  switch (shape.kind) {
    case "word":
      return shape.words.some(({ word }) => word === value) ? 4 : 0;
    case "flag":
      return typeof value === "boolean" ? 3 : 0;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? 3 : 0;
    case "text":
      return typeof value === "string" ? 3 : 0;
    case "list":
      return Array.isArray(value) ? 3 : 0;
    case "table":
      return isTable(value) && !isContradicted(shape, value) ? tableLikeness(shape, value) : 0;
  }
}

function tableLikeness(shape: TableShape, value: Record<string, unknown>): number {
  const known = new Set(shape.fields.map(({ key }) => key));
  const keys = Object.keys(value);
  const alien = keys.filter((key) => !known.has(key)).length;
  const missing = shape.fields.filter(({ key, isRequired }) => isRequired && !(key in value)).length;
  const marked = Object.entries(shape.marks).filter(([key, mark]) => value[key] === mark).length;
  return 3 + marked * 4 + 1 / (1 + alien * 2 + missing);
}

/** Returns true if a value selects a table other than this one. */
export function isContradicted(shape: TableShape, value: unknown): boolean {
  return isTable(value) && Object.entries(shape.marks).some(([key, mark]) => key in value && value[key] !== mark);
}

/** Describes a shape in a few words, for a selection list. */
export function label(shape: Shape, all: Shape[]): string {
  switch (shape.kind) {
    case "word":
      return "by name";
    case "flag":
      return "yes or no";
    case "number":
      return "a number";
    case "list":
      return "a list";
    case "text":
      return /^an? (\S+) with its unit/.exec(shape.says)?.[1] ?? (shape.of === "QueueLimit" ? "limit" : "text");
    case "table":
      return tableLabel(shape, all);
  }
}

function tableLabel(shape: TableShape, all: Shape[]): string {
  const marks = Object.values(shape.marks).map(String);
  if (marks.length > 0) {
    return marks.join(", ");
  }
  const keys = shape.fields.map(({ key }) => key);
  if (keys.length === 2 && keys.includes("forward") && keys.includes("backward")) {
    return "each direction";
  }
  const needed = shape.fields.filter(({ isRequired }) => isRequired).map(({ key }) => key);
  const only = all.filter(({ kind }) => kind === "table").length === 1;
  return only && needed.length === 0 ? "details" : (needed.length > 0 ? needed : keys).join(" and ");
}
