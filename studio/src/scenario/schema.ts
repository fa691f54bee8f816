/** The JSON Schema of scenarios, seen as what a form or a completion offers at a place. */

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
  /** Keys with the only value that they may have in this table. */
  marks: Record<string, unknown>;
  says: string;
  of: string;
}

/** A form that a value may have. */
export type Shape =
  | { kind: "word"; words: Word[]; of: string }
  | { kind: "flag"; of: string }
  | { kind: "number"; isWhole: boolean; least?: number; most?: number; of: string }
  | { kind: "text"; example: string; says: string; of: string }
  | TableShape
  | { kind: "list"; items: Schema[]; least: number; most: number; of: string };

export type Step = string | number;
export type Path = Step[];

/** A reader of one schema. */
export class Schemas {
  private readonly known = new Map<Schema, Shape[]>();

  constructor(readonly root: Schema) {}

  /** The schema behind a reference, with the description and default that stand beside the reference. */
  resolve(schema: Schema): Schema {
    if (!schema.$ref) {
      return schema;
    }
    const { $ref, ...beside } = schema;
    const target = this.root.$defs?.[nameOf($ref)];
    return target ? { ...this.resolve(target), ...beside } : beside;
  }

  /** All forms that a value of this schema may have. Words of several alternatives are together. */
  shapes(schema: Schema): Shape[] {
    let shapes = this.known.get(schema);
    if (!shapes) {
      shapes = gathered(this.flattened(schema, ""));
      this.known.set(schema, shapes);
    }
    return shapes;
  }

  private flattened(schema: Schema, of: string): Shape[] {
    if (schema.$ref) {
      const name = nameOf(schema.$ref);
      const target = this.root.$defs?.[name];
      return target ? this.flattened(target, name) : [];
    }
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) {
      return alternatives.flatMap((alternative) => this.flattened(alternative, of));
    }
    return plain(schema, of);
  }

  /** The form that a value has, or the nearest to it. */
  fit(schema: Schema, value: unknown): Shape | undefined {
    let best: Shape | undefined;
    let most = -1;
    for (const shape of this.shapes(schema)) {
      const score = likeness(shape, value);
      if (score > most) {
        best = shape;
        most = score;
      }
    }
    return best;
  }

  /** The schema at a path, by what stands on the way there. */
  at(path: Path, value: unknown): Schema | undefined {
    let schema: Schema | undefined = this.root;
    let here = value;
    for (const step of path) {
      schema = schema && this.step(schema, step, here);
      here = inside(here, step);
    }
    return schema;
  }

  private step(schema: Schema, step: Step, value: unknown): Schema | undefined {
    const fitting = this.fit(schema, value);
    const others = this.shapes(schema).filter((shape) => shape !== fitting);
    for (const shape of fitting ? [fitting, ...others] : others) {
      if (shape.kind === "table" && typeof step === "string") {
        const field = shape.fields.find(({ key }) => key === step);
        if (field) {
          return field.schema;
        }
      } else if (shape.kind === "list" && typeof step === "number") {
        return shape.items[Math.min(step, shape.items.length - 1)];
      }
    }
    return undefined;
  }

  /** All schemas that a path may have, whatever stands there itself: the word that chooses between tables has one in each. */
  all(path: Path, value: unknown): Schema[] {
    const last = path.at(-1);
    const parent = this.at(path.slice(0, -1), value);
    if (typeof last !== "string" || !parent) {
      const only = this.at(path, value);
      return only ? [only] : [];
    }
    const here = path.slice(0, -1).reduce(inside, value);
    const { [last]: _, ...others } = isTable(here) ? here : {};
    return this.shapes(parent).flatMap((shape) =>
      shape.kind === "table" && !isContradicted(shape, others)
        ? shape.fields.filter(({ key }) => key === last).map(({ schema }) => schema)
        : [],
    );
  }

  /** The keys that a table may still have, by those that it has. */
  fields(schema: Schema, value: unknown): Field[] {
    const fields = new Map<string, Field>();
    for (const shape of this.shapes(schema)) {
      if (shape.kind === "table" && !isContradicted(shape, value)) {
        for (const field of shape.fields) {
          if (!fields.has(field.key)) {
            fields.set(field.key, field);
          }
        }
      }
    }
    return [...fields.values()];
  }

  /** The smallest value of a form: what it needs, with defaults and examples. */
  skeleton(schema: Schema, shape: Shape | undefined = this.shapes(schema)[0]): unknown {
    const { default: usual } = this.resolve(schema);
    if (shape?.kind === "flag") {
      return usual !== true;
    }
    if (usual !== undefined && usual !== null && shape && likeness(shape, usual) > 0 && isFilled(usual)) {
      return usual;
    }
    switch (shape?.kind) {
      case "word":
        return shape.words[0]?.word ?? "";
      case "number":
        return shape.least ?? 0;
      case "text":
        return shape.example;
      case "list":
        return Array.from({ length: shape.least }, (_, index) =>
          this.skeleton(shape.items[Math.min(index, shape.items.length - 1)] ?? {}),
        );
      case "table":
        return this.skeletonTable(shape);
      default:
        return "";
    }
  }

  private skeletonTable(shape: TableShape): Record<string, unknown> {
    const needed = shape.fields.filter(({ key, isRequired }) => isRequired && !(key in shape.marks));
    const rest = needed.map(({ key, schema }) => [key, this.skeleton(schema)]);
    return { ...shape.marks, ...Object.fromEntries(rest) };
  }
}

function nameOf(reference: string): string {
  return reference.replace("#/$defs/", "");
}

function plain(schema: Schema, of: string): Shape[] {
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

/** Words of all alternatives together, and each other form once. */
function gathered(shapes: Shape[]): Shape[] {
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

/** How much a value is like a form; 0 is not at all. */
function likeness(shape: Shape, value: unknown): number {
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

function isContradicted(shape: TableShape, value: unknown): boolean {
  return isTable(value) && Object.entries(shape.marks).some(([key, mark]) => key in value && value[key] !== mark);
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function isFilled(value: unknown): boolean {
  return !isTable(value) || Object.keys(value).length > 0;
}

/** What stands at a step within a value. */
export function inside(value: unknown, step: Step): unknown {
  if (typeof step === "number") {
    return Array.isArray(value) ? value[step] : undefined;
  }
  return isTable(value) ? value[step] : undefined;
}

/** A path as the engine writes it: `links[0].rate`. */
export function written(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") {
        return `[${step}]`;
      }
      const key = /^[A-Za-z0-9_-]+$/.test(step) ? step : `"${step}"`;
      return index === 0 ? key : `.${key}`;
    })
    .join("");
}

/** A form in a few words, to choose by. */
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
