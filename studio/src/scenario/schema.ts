/** The JSON Schema of scenarios, in the form that forms and completions need. */

import { inside, isTable, type Path, type Step } from "./path.ts";
import {
  type Field,
  gathered,
  isContradicted,
  likeness,
  plain,
  type Schema,
  type Shape,
  type TableShape,
} from "./shapes.ts";

/** A reader of one schema. */
export class Schemas {
  private readonly known = new Map<Schema, Shape[]>();

  constructor(readonly root: Schema) {}

  /** Returns the schema that a reference points to, with the description and default given next to the reference. */
  resolve(schema: Schema): Schema {
    if (!schema.$ref) {
      return schema;
    }
    const { $ref, ...beside } = schema;
    const target = this.root.$defs?.[nameOf($ref)];
    return target ? { ...this.resolve(target), ...beside } : beside;
  }

  /** Returns all shapes of values that a schema allows. Keywords of several alternatives are merged. */
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

  /** Returns the shape of a value, or the most similar one. */
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

  /** Returns the schema at a path, selected by the values along the path. */
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

  /**
   * Returns all schemas that may apply at a path, whatever the value there. A keyword that selects one of several
   * tables has a schema in each of them.
   */
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

  /** Returns the keys that a table may still have, given its present keys. */
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

  /** Returns the minimal value of a shape: its required keys, with defaults and examples. */
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
        return shape.isWhole ? Math.max(shape.least ?? 1, 1) : shape.of === "Probability" ? 1e-4 : (shape.least ?? 0);
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

function isFilled(value: unknown): boolean {
  return !isTable(value) || Object.keys(value).length > 0;
}
