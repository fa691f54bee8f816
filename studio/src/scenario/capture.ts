/** Converts the path of the connection with the most data in a capture to a scenario, as `lightlag import` does. */

import type { Connection, Findings } from "../engine/protocol.ts";

/** Bytes of the headers of IPv4 and TCP with timestamps. */
const HEADERS = 52;

/**
 * Returns the text of the scenario.
 *
 * @throws {Error} if the capture lacks data that a scenario needs
 */
export function scenarioOf(file: string, findings: Findings): string {
  const data = ({ forward, backward }: Connection) => forward.unique_bytes + backward.unique_bytes;
  const [first, ...others] = findings.connections;
  if (!first) {
    throw new Error("has no TCP connection with both endpoints; use a capture with one");
  }
  const connection = others.reduce((most, one) => (data(one) > data(most) ? one : most), first);
  const { forward, backward } = connection;
  const isBackward = backward.unique_bytes > forward.unique_bytes;
  const [side, other] = isBackward ? [backward, forward] : [forward, backward];
  const rtt = connection.min_rtt_s;
  const goodput = side.goodput_bps;
  if (!(findings.rate_bps || goodput)) {
    throw new Error("has no connection with enough data for a rate");
  }
  if (!rtt) {
    throw new Error("has no measurable round trip");
  }
  const payload = side.payload_bytes / Math.max(side.data_segments, 1);
  const rate = findings.rate_bps || (goodput ?? 0) * (1 + HEADERS / payload);
  const { client, server, number } = connection;
  const lines = comment(`Connection ${number} of a capture: ${client} to ${server}. From ${file}.`);
  const again = side.retransmitted_segments - side.spurious_retransmissions;
  if (side.data_segments > 0 && again > 0) {
    const share = significant(again / side.data_segments, 3);
    lines.push(
      ...comment(
        `${again} of ${side.data_segments} segments were retransmitted (${share}). They include losses from a ` +
          "full queue, so loss is left out; set it if the link is known to lose packets.",
      ),
    );
  }
  lines.push("", `name = "${named(file)}"`, `duration = "${seconds(Math.max(2 * connection.duration_s, 10))}"`, "");
  const from = findings.rate_bps
    ? "sustained over ten consecutive segments"
    : `its goodput, with ${HEADERS} B of headers for each ${payload.toFixed(0)} B: a lower bound`;
  lines.push(
    "[[links]]",
    'between = ["client", "server"]',
    `rate = "${bits(rate)}"  # ${from}`,
    `delay = "${seconds(rtt / 2)}"  # half of the minimum RTT, ${significant(rtt * 1000, 6)} ms`,
    'queue = "1 bdp"  # not measured: a bandwidth-delay product',
    "",
    "[[flows]]",
    `from = "${isBackward ? "server" : "client"}"`,
    `to = "${isBackward ? "client" : "server"}"`,
  );
  if (side.unique_bytes > 0) {
    lines.push(`transfer = "${side.unique_bytes} B"  # its bytes, each counted once`);
  }
  const mss = other.handshake?.mss;
  if (mss && mss >= 88 && mss <= 9000) {
    lines.push(`tcp = { mss = "${mss} B" }  # the MSS that its receiver announced`);
  }
  return `${lines.join("\n")}\n`;
}

function named(file: string): string {
  const name = (file.split(".")[0] || file).replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  return name.slice(0, 60) || "imported";
}

/** Wraps a text into lines of at most 116 characters after "# ". */
function comment(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.replace(/[\p{C}]/gu, "").split(/\s+/)) {
    if (line && line.length + 1 + word.length > 116) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line].map((each) => `# ${each}`);
}

/** Formats a number with the given number of significant digits, as "%g" does where it needs no exponent. */
function significant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

function bits(bps: number): string {
  for (const [unit, factor] of [
    ["Gbit/s", 1e9],
    ["Mbit/s", 1e6],
    ["kbit/s", 1e3],
  ] as const) {
    if (bps >= factor) {
      return `${significant(bps / factor, 6)} ${unit}`;
    }
  }
  return `${significant(Math.max(bps, 1), 6)} bit/s`;
}

function seconds(time: number): string {
  if (time >= 1 || time === 0) {
    return `${significant(Math.min(time, 480 * 3600), 10)} s`;
  }
  return time >= 1e-6 ? `${significant(time * 1000, 9)} ms` : "0 s";
}
