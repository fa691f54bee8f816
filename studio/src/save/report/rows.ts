/** The parts of a summary as rows of text for people, in the words of the command line. */

import * as numbers from "../../app/numbers.ts";
import { grouped, number, percent, windowOf, withUnit } from "../../app/numbers.ts";
import type { FlowSummary, LegSummary, LinkSummary, ProxySummary, RadioSummary, Summary } from "./summary.ts";

/** A row, by the heads of its columns. */
export type Row = Record<string, string>;

/** Rows of flows and of proxies, and of links and of radios. */
const FLOWS = 20;
const LINKS = 8;
const NONE = "–";

/** The first flows, each with a row for every leg if it has any. */
export function flowRows({ flows, legs }: Summary): Row[] {
  const shown = flows.slice(0, FLOWS).flatMap((flow): Sender[] => {
    const own = legs.filter((leg) => leg.flow === flow.name);
    return [{ ...flow, isSplit: own.length > 0 }, ...own.map((leg) => ({ ...leg, isSplit: false }))];
  });
  const largest = Math.max(0, ...shown.map(({ goodput_bps }) => goodput_bps));
  const has = (...keys: (keyof FlowSummary)[]) => shown.some((flow) => keys.some((key) => key in flow));
  const [hasDatagrams, hasPages, hasSignals] = [has("datagrams"), has("responses", "pages"), has("signals")];
  return shown.map((flow) => ({
    ...(flow.isSplit ? splitRow(flow, largest) : flowRow(flow, largest)),
    ...(hasDatagrams ? datagramCells(flow) : {}),
    ...(hasPages ? pageCells(flow) : {}),
    ...(hasSignals ? signalCells(flow) : {}),
  }));
}

/** A flow or a leg; the legs of one that is split have its senders. */
type Sender = FlowSummary & Partial<Pick<LegSummary, "leg">> & { isSplit: boolean };

/** Flows of datagrams have no retransmissions and no acknowledgements. */
function flowRow(flow: Sender, largest_bps: number): Row {
  const isTcp = !("datagrams" in flow);
  return {
    flow: flow.leg !== undefined ? `  ${flow.from}->${flow.to}` : flow.name,
    congestion: flow.congestion,
    goodput: withUnit(flow.goodput_bps, "bit/s", largest_bps),
    finished: flow.finish_s === null ? NONE : `${number(flow.finish_s, 4)} s`,
    resent: isTcp ? share(flow.retransmitted_segments, flow.sent_segments) : NONE,
    timeouts: isTcp ? String(flow.timeouts) : NONE,
    "mean RTT": milliseconds(flow.mean_rtt_s),
    "mean cwnd": isTcp ? windowOf(flow.mean_cwnd_segments) : NONE,
    "limited by": isTcp ? limitedBy(flow.limited_s) : NONE,
  };
}

/** A flow that proxies split: the rows of its legs describe its senders. */
function splitRow(given: Sender, largest_bps: number): Row {
  const row = flowRow(given, largest_bps);
  const kept = ["flow", "goodput", "finished"];
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, kept.includes(key) ? value : NONE]));
}

/** Losses and delays of a flow's datagrams, or of a sink's messages, if it has some. */
function datagramCells({ messages, datagrams, sent_segments }: Sender): Row {
  const found = messages ?? datagrams;
  if (!found) {
    return { lost: NONE, "mean delay": NONE, "95 % delay": NONE };
  }
  return {
    lost: messages ? share(messages.lost + messages.dropped, messages.sent) : share(found.lost, sent_segments),
    "mean delay": milliseconds(found.mean_delay_s),
    "95 % delay": milliseconds(found.p95_delay_s),
  };
}

/** The responses or the pages of a flow, if it has some. */
function pageCells({ responses, pages }: Sender): Row {
  const found = responses ?? pages;
  return found
    ? {
        responses: String(found.count),
        "mean time": milliseconds(found.mean_s),
        "95 % time": milliseconds(found.p95_s),
      }
    : { responses: NONE, "mean time": NONE, "95 % time": NONE };
}

/** Signals to the ends of a flow, through the network or at their own node, and how many were heeded. */
function signalCells({ signals }: Sender): Row {
  if (!signals) {
    return { signals: NONE };
  }
  const { sent, received, local } = signals;
  return { signals: `${received + local} of ${sent + local} heeded` };
}

const DROPPED = [
  "dropped_queue",
  "dropped_aqm",
  "dropped_error",
  "dropped_outage",
  "dropped_acks",
  "dropped_route",
] as const;
/** Columns that plain links never fill are shown only if some link fills them. */
const RARE = [
  ["dropped_outage", "dropped (outage)"],
  ["dropped_aqm", "dropped (AQM)"],
  ["dropped_acks", "ACKs thinned out"],
  ["dropped_route", "dropped (no way)"],
  ["withdrawn", "sent another way"],
  ["marked", "marked"],
  ["duplicated", "duplicated"],
  ["reordered", "reordered"],
  ["repair_packets", "repair packets"],
  ["repaired", "repaired"],
] as const;

/** The link directions that dropped most or were busiest, in the order of the scenario. */
export function linkRows({ links }: Summary): Row[] {
  const dropped = (link: LinkSummary) => DROPPED.reduce((all, cause) => all + (link[cause] ?? 0), 0);
  const heaviest = links
    .map((link, at) => ({ link, at }))
    .sort((a, b) => dropped(b.link) - dropped(a.link) || b.link.utilisation - a.link.utilisation)
    .slice(0, LINKS);
  const shown = heaviest
    .filter(({ link }) => link.carried_bytes > 0)
    .sort((a, b) => a.at - b.at)
    .map(({ link }) => link);
  const rare = RARE.filter(([key]) => shown.some((link) => link[key]));
  const most = Math.max(0, ...shown.map(({ carried_bytes }) => carried_bytes));
  return shown.map((link) => ({
    link: link.name,
    utilisation: percent(link.utilisation, 1),
    carried: withUnit(link.carried_bytes, "B", most),
    "dropped (queue)": String(link.dropped_queue),
    "dropped (error)": String(link.dropped_error),
    ...Object.fromEntries(rare.map(([key, title]) => [title, String(link[key])])),
    "mean queue": number(link.mean_queue_packets, 4),
    "max queue": String(link.max_queue_packets),
  }));
}

/** The first flows at proxies. */
export function proxyRows({ proxies }: Summary): Row[] {
  return proxies.slice(0, FLOWS).map((proxy: ProxySummary) => ({
    proxy: proxy.node,
    flow: proxy.flow,
    congestion: proxy.congestion,
    "passed on": withUnit(proxy.acknowledged_bytes, "B"),
    lost: proxy.lost_bytes ? withUnit(proxy.lost_bytes, "B") : NONE,
    resent: share(proxy.retransmitted_segments, proxy.sent_segments),
    timeouts: String(proxy.timeouts),
    "min RTT": milliseconds(proxy.min_rtt_s),
    "mean buffer": withUnit(proxy.mean_buffer_bytes, "B"),
    "max buffer": withUnit(proxy.max_buffer_bytes, "B"),
  }));
}

const LOST = ["dropped_queue", "dropped_retry", "dropped_lifetime", "dropped_no_route"] as const;

function lostOf(radio: RadioSummary): number {
  return LOST.reduce((all, cause) => all + radio[cause], 0);
}

/** The busiest radios. */
export function radioRows({ radios }: Summary): Row[] {
  const shown = radios.toSorted((a, b) => b.utilisation - a.utilisation).slice(0, LINKS);
  const isAggregated = radios.some(({ aggregates }) => aggregates);
  const most = Math.max(0, ...shown.map(({ routing_bytes }) => routing_bytes));
  return shown.map((radio) => {
    const { mpdus_per_aggregate: mean } = radio;
    return {
      radio: radio.name,
      sends: percent(radio.utilisation, 1),
      busy: percent(radio.busy, 1),
      frames: String(radio.sent_frames),
      ...(isAggregated ? { "frames/A-MPDU": mean === null ? NONE : number(mean, 3) } : {}),
      "mean queue": number(radio.mean_queue_packets, 3),
      retries: share(radio.retries, radio.sent_frames),
      collisions: String(radio.collisions),
      dropped: String(lostOf(radio)),
      routing: withUnit(radio.routing_bytes, "B", most),
      "broken links": String(radio.broken_links),
    };
  });
}

/** The media: sums over the radios on each. On the air may be more than all of the time, as stations far apart send at once. */
export function mediumRows({ radios }: Summary): Row[] {
  const names = [...new Set(radios.map(({ medium }) => medium))];
  return names.map((name) => {
    const own = radios.filter(({ medium }) => medium === name);
    const total = (of: (radio: RadioSummary) => number) => own.reduce((all, radio) => all + of(radio), 0);
    const frames = total(({ sent_frames }) => sent_frames);
    return {
      medium: name,
      radios: String(own.length),
      "on the air": percent(
        total(({ utilisation }) => utilisation),
        1,
      ),
      "mean busy": percent(total(({ busy }) => busy) / own.length, 1),
      frames: grouped(frames),
      retries: share(
        total(({ retries }) => retries),
        frames,
      ),
      collisions: grouped(total(({ collisions }) => collisions)),
      dropped: grouped(total(lostOf)),
      "no route": grouped(total(({ dropped_no_route }) => dropped_no_route)),
      routing: withUnit(
        total(({ routing_bytes }) => routing_bytes),
        "B",
      ),
      "route changes": grouped(total(({ route_changes }) => route_changes)),
    };
  });
}

/** A share in percent, with two digits for small ones. */
function share(part: number, of: number): string {
  return part === 0 || of === 0 ? "0%" : `${number((100 * part) / of, 2)}%`;
}

function milliseconds(seconds: number | null): string {
  return seconds === null ? NONE : numbers.milliseconds(seconds);
}

/** The two causes that held a sender back for longest, with their share of its time. */
function limitedBy(limits: Record<string, number> = {}): string {
  const total = Object.values(limits).reduce((all, value) => all + value, 0);
  if (total <= 0) {
    return NONE;
  }
  const first = Object.entries(limits)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .filter(([, value]) => value / total >= 0.005);
  return first.map(([name, value]) => `${name} ${percent(value / total)}`).join(", ");
}
