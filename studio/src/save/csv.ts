/** Tables as comma-separated values (RFC 4180), as polars and spreadsheets read them. */

import type { Sheet } from "./sheet.ts";

export function csv({ columns, rows }: Sheet): string {
  const lines = [columns.map(({ name }) => field(name)).join(",")];
  for (let row = 0; row < rows; row++) {
    lines.push(columns.map(({ at }) => field(at(row))).join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** Formats a field: a missing value is empty; text is quoted if necessary, or if it is empty itself. */
export function field(value: string | number | boolean | null): string {
  if (value === null) {
    return "";
  }
  const text = String(value);
  return text === "" || /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
