/** The tables of a run as a results folder has them: the same names, columns and order. */

import type { Column, Table, Tables, Values } from "../engine/protocol.ts";

export type Kind = "text" | "number" | "count" | "flag";

/** A column: plain values, or numbers that may point into a list of names. */
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

/** How `about` describes a table. */
export interface Described {
  name: string;
  columns: { name: string; kind: Kind; keys: string[]; optional: boolean; omitted: boolean }[];
}

/** Names into which the columns of a run point. */
export interface NameLists {
  flows: string[];
  links: string[];
  nodes: string[];
}

/** The tables whose rows stand in the summary of a run. */
const IN_SUMMARY = ["flows", "links", "proxies", "legs", "interfaces"];

/** All tables of a run, in the order of the data dictionary. */
export function sheets(
  dictionary: unknown[],
  summary: Record<string, unknown>,
  tables: Tables,
  lists: NameLists,
): Sheet[] {
  return (dictionary as Described[]).flatMap((described) => {
    const { name } = described;
    const rows = summary[name];
    if (IN_SUMMARY.includes(name)) {
      return Array.isArray(rows) && rows.length > 0 ? [ofRows(described, rows)] : [];
    }
    const table = tables[name];
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
  const columns = Object.entries(table.columns).map(([name, column]) => {
    const kind = kinds.get(name) ?? "number";
    const bits = column.values instanceof Float64Array ? 64 : 32;
    return { name, kind, bits, ...reader(kind, column, lists) } satisfies SheetColumn;
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
