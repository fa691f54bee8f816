/** The rows that a single step recorded, as text. */

import { number, size } from "../app/numbers.ts";
import type { Started, Table, Tables } from "../engine/protocol.ts";

/** Maximum number of rows reported. */
const MOST = 4;

type Names = Pick<Started, "flows" | "links" | "nodes">;

/** Returns true if a row was recorded. */
export function hasRows(tables: Tables): boolean {
  return Object.values(tables).some(({ rows }) => rows > 0);
}

/** Returns a sentence for each of the first rows. */
export function told({ packets, drops, trace, queue }: Tables, names: Names): string[] {
  const all = [
    ...each(packets, (row) => ofPacket(row, names)),
    ...each(drops, ({ text, flow, link }) => {
      return `a packet of ${names.flows[flow] ?? "a flow"} is dropped at ${names.links[link] ?? "a link"} (${text("cause")})`;
    }),
    ...each(trace, (row) => ofTrace(row, names)),
    ...queues(queue, names),
  ];
  const rest = all.length - MOST;
  return rest > 0 ? [...all.slice(0, MOST), `and ${rest} more`] : all;
}

/** Returns the rows of non-empty queues from a sample of all queues. */
function queues(queue: Table | undefined, names: Names): string[] {
  const all = each(queue, ({ value, link }) => ({ packets: value("packets"), link: names.links[link] ?? "a link" }));
  const full = all.length > 1 ? all.filter(({ packets }) => packets > 0) : all;
  const said = full.map(
    ({ packets, link }) => `${packets} ${packets === 1 ? "packet waits" : "packets wait"} at ${link}`,
  );
  return all.length > 0 && full.length === 0 ? ["no packet waits at any link"] : said;
}

interface Row {
  flow: number;
  link: number;
  value(column: string): number;
  text(column: string): string;
}

function each<T>(table: Table | undefined, of: (row: Row) => T): T[] {
  return Array.from({ length: table?.rows ?? 0 }, (_, at) => {
    const value = (column: string) => Number(table?.columns[column]?.values[at] ?? Number.NaN);
    const text = (column: string) => {
      const names = table?.columns[column]?.names;
      return (Array.isArray(names) ? names[value(column)] : undefined)?.replaceAll("_", " ") ?? "";
    };
    return of({ flow: value("flow"), link: value("link"), value, text });
  });
}

function ofPacket({ flow, value, text }: Row, names: Names): string {
  const what = value("backward") === 1 ? "an ACK" : value("len") > 0 ? `a segment of ${value("len")} B` : "a segment";
  const node = names.nodes[value("node")];
  return `${what} of ${names.flows[flow] ?? "a flow"} is ${text("event")}${node ? ` at ${node}` : ""}`;
}

function ofTrace({ flow, value, text }: Row, names: Names): string {
  const window = `cwnd ${number(value("cwnd_segments"), 4)} segments`;
  const state = text("phase");
  const repairs = state && state !== "open" ? `, ${state}` : "";
  return `${names.flows[flow] ?? "a flow"}: ${window}, ${size(value("inflight_bytes"))} in flight${repairs}`;
}
