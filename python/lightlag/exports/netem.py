"""Shell scripts that change netem, the emulator of delay and loss in Linux, over time with ``tc``.

The script runs on a host between the two ends, or on both sides of a pair of namespaces: packets to each end leave
through one device. tc-netem(8): ``limit`` counts the packets that wait for the rate and those that are in flight, so it
is the limit of the queue plus the packets in flight. An outage is a loss of 100 %, because netem reads a rate of 0 as
unlimited.
"""

from __future__ import annotations

import re
import shlex

from lightlag.exports.changes import Interval, intervals
from lightlag.exports.path import PathOverTime

__all__ = ["files"]

HEAD = """\
#!/usr/bin/env bash
# {title}
# {origin}
# Usage: {name} DEVICE-TO-{end} DEVICE-TO-{start}, as root.
set -eu
forward=${{1:?name the device to {end}}}
backward=${{2:?name the device to {start}}}

clean() {{
  tc qdisc del dev "$forward" root 2>/dev/null || true
  tc qdisc del dev "$backward" root 2>/dev/null || true
}}
trap clean EXIT
trap 'exit 130' INT TERM

# Sleeps until a time in microseconds since the start.
at() {{
  local left=$((start + $1 - ${{EPOCHREALTIME/[.,]/}}))
  if ((left > 0)); then
    sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"
  fi
}}

"""
START = "start=${EPOCHREALTIME/[.,]/}\n"


def files(path: PathOverTime) -> dict[str, str]:
    """Returns the script by the end of its name."""
    head = HEAD.format(
        title=_comment(
            f"{path.name}: {path.start} -> {path.end} for {path.duration_s:g} s in steps of {path.step_s:g} s"
        ),
        origin=_comment(f"{path.origin[0].upper()}{path.origin[1:]}. Written by lightlag export."),
        name="$0",
        start=_word(path.start),
        end=_word(path.end),
    )
    changes = [
        (interval.since_us, number, device, interval)
        for number, (device, direction) in enumerate((("forward", path.forward), ("backward", path.backward)))
        for interval in intervals(path, direction)
    ]
    lines = []
    time = 0
    for since, _, device, interval in sorted(changes, key=lambda change: change[:2]):
        if since > time:
            lines.append(f"at {since}")
            time = since
        lines.append(command("replace" if since == 0 else "change", f'"${device}"', interval))
    first = sum(since == 0 for since, *_ in changes)
    lines.insert(first, START.rstrip())
    lines.append(f"at {round(path.duration_s * 1e6)}")
    return {".sh": head + "\n".join(lines) + "\n"}


def command(verb: str, device: str, interval: Interval) -> str:
    """Returns the command that applies an interval to a device.

    Examples
    --------
    >>> command("change", "eth0", Interval(0, 10**6, 20_000_000, 297_346_667, 1e-4, 1000))
    'tc qdisc change dev eth0 root handle 1: netem delay 297346.667us rate 20000000bit loss 0.01% limit 1496'
    """
    is_out = interval.loss >= 1.0 or interval.rate_bps == 0
    loss = "100" if is_out else f"{100 * interval.loss:.9f}".rstrip("0").rstrip(".")
    rate = f" rate {interval.rate_bps}bit" if interval.rate_bps else ""
    limit = interval.queue_packets + interval.in_flight_packets
    return (
        f"tc qdisc {verb} dev {device} root handle 1: netem delay {interval.delay_ns / 1e3:.3f}us{rate} "
        f"loss {loss}% limit {limit}"
    )


def _comment(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", text)


def _word(name: str) -> str:
    """Returns a name without characters that the shell treats specially in the texts of the script."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", shlex.quote(name).strip("'")) or "node"
