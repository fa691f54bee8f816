"""Shared by commands that move real packets: signals, and the events of simulated hosts as lines."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lightlag.text.terminal import plain, printable

__all__ = ["noted_signals", "print_event"]

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def noted_signals() -> Iterator[Callable[[], int | None]]:
    """A block in which a signal is recorded but interrupts nothing.

    Its value is a function that returns the first signal.
    """
    received: list[int] = []

    def note(number: int, _frame: object) -> None:
        received.append(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def print_event(event: dict[str, Any], *, as_json: bool, several: bool) -> None:
    """Prints an event of a host: as a JSON object, or as text that names both endpoints if there are `several`."""
    print(plain(json.dumps(event)) if as_json else printable(_text(event, several), keep="\n"), flush=True)


def _text(event: dict[str, Any], several: bool) -> str:
    if event["event"] == "ready":
        return f"{event['tun']}: {event['address']}"
    name = f"{event['local']} to {event['remote']}" if several else str(event["remote"])
    return f"{name}: connected" if event["event"] == "opened" else _report(name, event)


def _report(name: str, report: dict[str, Any]) -> str:
    """Returns a summary of a closed connection in a few lines."""
    seconds = report["seconds"]
    lines = [f"{name}: {report['error'] or 'closed'} after {seconds:.3f} s, {report['congestion']}"]
    for direction, verb in [("in", "received"), ("out", "sent")]:
        size = report[f"bytes_{direction}"]
        if size:
            rate = f", {8e-6 * size / seconds:.1f} Mbit/s" if seconds > 0 else ""
            lines.append(f"  {verb} {size:,} bytes{rate}, sha256 {report[f'sha256_{direction}']}")
    agreed = [name for name in ("sack", "timestamps", "window_scaling", "ecn") if report[name]]
    lines.append(
        f"  SRTT {1e3 * report['srtt']:.1f} ms, minimum {1e3 * report['min_rtt']:.1f} ms; cwnd {report['cwnd']} "
        f"segments of {report['snd_mss']} bytes; {report['retransmitted_segments']} retransmitted, "
        f"{report['timeouts']} timeouts; longest stall {1e3 * report['longest_stall']:.0f} ms"
    )
    lines.append(f"  negotiated: {', '.join(agreed) or 'nothing'}")
    return "\n".join(lines)
