/** Tables as Parquet, with the types of a results directory. Loaded on the first use. */

import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import type { Sheet, SheetColumn } from "./sheet.ts";

type Element = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>[number];

export function parquet({ columns, rows }: Sheet): ArrayBuffer {
  const schema: Element[] = [{ name: "schema", num_children: columns.length }, ...columns.map(element)];
  const columnData = columns.map(
    (column): ColumnSource => ({
      name: column.name,
      data: Array.from({ length: rows }, (_, row) => value(column, row)),
    }),
  );
  return parquetWriteBuffer({ schema, columnData, createdBy: "lightlag studio" });
}

function element({ name, kind, bits, hasGaps }: SheetColumn): Element {
  const repetition_type = hasGaps ? "OPTIONAL" : "REQUIRED";
  switch (kind) {
    case "text":
      return { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type };
    case "flag":
      return { name, type: "BOOLEAN", repetition_type };
    case "count":
      return bits === 64
        ? { name, type: "INT64", converted_type: "UINT_64", repetition_type }
        : { name, type: "INT32", converted_type: "UINT_32", repetition_type };
    default:
      return { name, type: "DOUBLE", repetition_type };
  }
}

function value({ kind, bits, at }: SheetColumn, row: number): unknown {
  const found = at(row);
  return kind === "count" && bits === 64 && typeof found === "number" ? BigInt(found) : found;
}
