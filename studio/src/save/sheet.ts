/** The tables of a run as in a results directory: the same names, columns and order. */

import type { Column, Table, Tables, Values } from "../engine/protocol.ts";
import type { Recorded, Summed } from "../engine/results.gen.ts";

export type Kind = "text" | "number" | "count" | "flag";

/** A column: plain values, or indices into a list of names. */
export interface SheetColumn {
  name: string;
  kind: Kind;
  /** Bits of a count: 32 or 64. */
  bits: 32 | 64;
  /** Whether a value may be missing. */
  hasGaps: boolean;
  at: (row: number) => string | number | boolean | null;
}

export interface Sheet {
  name: string;
  rows: number;
  columns: SheetColumn[];
}

/** Description of a table in `about`. */
export interface Described {
  name: keyof Summed | keyof Recorded;
  columns: { name: string; kind: Kind; keys: string[]; optional: boolean; omitted: boolean }[];
}

/** Lists of names; columns of a run contain indices into them. */
export interface NameLists {
  flows: string[];
  links: string[];
  nodes: string[];
}

/** Returns all tables of a run, in the order of the data dictionary. */
export function sheets(dictionary: unknown[], summary: Partial<Summed>, tables: Tables, lists: NameLists): Sheet[] {
  return (dictionary as Described[]).flatMap((described) => {
    const rows: object[] = summary[described.name as keyof Summed] ?? [];
    if (rows.length > 0) {
      return [ofRows(described, rows as Row[])];
    }
    const table = tables[described.name as keyof Recorded];
    return table ? [ofTable(described, table, lists)] : [];
  });
}

type Row = Record<string, unknown>;

function ofRows({ name, columns }: Described, rows: Row[]): Sheet {
  const there = columns.filter(
    ({ optional, keys }) => !optional || rows.some((row) => keys[0] !== undefined && row[keys[0]] != null),
  );
  return {
    name,
    rows: rows.length,
    columns: there.map(({ name, kind, keys }) => {
      const at = (row: number) => plain(keys.reduce<unknown>((value, key) => (value as Row)?.[key], rows[row]));
      return { name, kind, bits: 64, at, hasGaps: rows.some((_, row) => at(row) === null) };
    }),
  };
}

function plain(value: unknown): string | number | boolean | null {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function ofTable(described: Described, table: Table, lists: NameLists): Sheet {
  const kinds = new Map(described.columns.map(({ name, kind }) => [name, kind]));
  const columns = Object.entries(table.columns).flatMap(([name, column]) => {
    if (!column) {
      return [];
    }
    const kind = kinds.get(name) ?? "number";
    const bits = column.values instanceof Float64Array ? 64 : 32;
    return [{ name, kind, bits, ...reader(kind, column, lists) } satisfies SheetColumn];
  });
  return { name: described.name, rows: table.rows, columns };
}

function reader(kind: Kind, { values, names }: Column, lists: NameLists): Pick<SheetColumn, "at" | "hasGaps"> {
  const list = typeof names === "string" ? lists[names] : names;
  if (list) {
    return { at: (row) => list[values[row] ?? -1] ?? null, hasGaps: values.some((value) => list[value] === undefined) };
  }
  if (kind === "flag") {
    return { at: (row) => values[row] === 1, hasGaps: false };
  }
  return { at: (row) => known(values[row]), hasGaps: (values as Values).some((value: number) => Number.isNaN(value)) };
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
