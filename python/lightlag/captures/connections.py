"""Captures, their connections, and the packets of one of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import InputError, Interrupted
from lightlag.text.quantities import milliseconds as _time_for_people
from lightlag.text.quantities import number, rate, share, size

if TYPE_CHECKING:
    import polars as pl

    from lightlag.drawing.style import Chart
    from lightlag.text.table import Row

__all__ = ["Capture", "Connection", "inspect"]

_SHOWN = 20


def inspect(path: str | os.PathLike[str], *, progress: Callable[[int, int, int], object] | None = None) -> Capture:
    """Reads a capture in one pass; the memory does not grow with the size of the file.

    Parameters
    ----------
    path
        A pcapng or pcap file.
    progress
        Called about ten times a second with the bytes read, the size of the file (0 where it has none) and the packets
        so far.

    Raises
    ------
    InputError
        If the file is not a capture, or no part of it can be read. Data after a damaged block is left out, and
        ``Capture.note`` states this.
    Interrupted
        If Ctrl-C was pressed; ``result`` holds everything read so far.
    """
    capture = Capture(Path(path), _read(path, progress=progress))
    if capture.summary["interrupted"]:
        raise Interrupted(capture)
    return capture


def _read(path: str | os.PathLike[str], **options: Any) -> _engine.Capture:
    try:
        return _engine.inspect(path, **options)
    except ValueError as error:
        raise InputError(str(error)) from None


class Capture:
    """The connections of a capture. Made by :func:`lightlag.inspect`.

    ``summary`` has the keys of ``lightlag inspect --json``; ``connections`` is a list, ``table`` a polars data frame
    with one row for each direction of each connection.
    """

    def __init__(self, path: Path, engine: _engine.Capture) -> None:
        self.path = path
        self.summary: dict[str, Any] = json.loads(engine.summary())

    @cached_property
    def connections(self) -> list[Connection]:
        """The connections in the order of their first packets."""
        return [Connection(self, found) for found in self.summary["connections"]]

    @property
    def note(self) -> str | None:
        """Reason why the end of the file was not reached, if so."""
        note = self.summary["note"]
        return None if note is None else str(note)

    @property
    def table(self) -> pl.DataFrame:
        """Statistics as a table with one row for each direction of each connection: ``number``, ``direction``, then the
        rest.
        """
        import polars as pl

        rows = []
        for found in self.summary["connections"]:
            shared = {key: value for key, value in found.items() if key not in ("forward", "backward")}
            for direction in ("forward", "backward"):
                flat = {"number": found["number"], "direction": direction, **shared}
                for key, value in found[direction].items():
                    if key in ("handshake", "rtt"):
                        flat |= {f"{key}_{inner}": (value or {}).get(inner) for inner in _NESTED[key]}
                    else:
                        flat[key] = value
                rows.append(flat)
        return pl.DataFrame(rows, infer_schema_length=None)

    def select(self, flow: str | None) -> list[Connection]:
        """Returns the connections that a number or one or both endpoints select.

        They are written as in ``"3"``, ``"10.0.0.1:80"``, ``"10.0.0.1"`` or ``"END-END"``.

        Parameters
        ----------
        flow
            ``None`` selects all.

        Raises
        ------
        InputError
            If there is no such connection.
        """
        found = [each for each in self.connections if flow is None or each.matches(flow)]
        if not found and flow is not None:
            there = ", ".join(f"{each.number} ({each.client}-{each.server})" for each in self.connections[:10])
            raise InputError(f'{self.path}: no connection "{flow}"; there are {there or "none"}')
        return found

    def largest(self, flow: str | None = None) -> Connection:
        """Returns the connection with the most payload, of those that ``flow`` selects."""
        found = self.select(flow)
        if not found:
            raise InputError(f"{self.path}: it holds no TCP connection")
        return max(found, key=lambda each: (each.payload_bytes, -each.number))

    def __repr__(self) -> str:
        number = len(self.connections)
        return f"<Capture {self.path}: {self.summary['packets']} packets, {number} connection{'s' * (number != 1)}>"


class Connection:
    """One connection of a capture: ``summary`` has every statistic, as in ``lightlag inspect --json``."""

    def __init__(self, capture: Capture, summary: dict[str, Any]) -> None:
        self.capture = capture
        self.summary = summary
        self.number: int = summary["number"]
        self.client: str = summary["client"]
        self.server: str = summary["server"]

    @property
    def payload_bytes(self) -> int:
        """Bytes of payload in both directions, duplicates included."""
        return int(self.summary["forward"]["payload_bytes"] + self.summary["backward"]["payload_bytes"])

    @property
    def sender(self) -> str:
        """The side that sent more data: client or server."""
        forward, backward = self.summary["forward"], self.summary["backward"]
        return "client" if forward["payload_bytes"] >= backward["payload_bytes"] else "server"

    @property
    def data(self) -> dict[str, Any]:
        """The direction with more data."""
        found: dict[str, Any] = self.summary["forward" if self.sender == "client" else "backward"]
        return found

    @property
    def answers(self) -> dict[str, Any]:
        """The direction of the ACKs."""
        found: dict[str, Any] = self.summary["backward" if self.sender == "client" else "forward"]
        return found

    def matches(self, flow: str) -> bool:
        """Returns true if ``flow`` names this connection; see :meth:`Capture.select`."""
        if flow.isdigit():
            return self.number == int(flow)
        ends = [self.client, self.server]
        names = {name for end in ends for name in (end, _host(end))}
        first, separator, second = flow.partition("-")
        if not separator:
            return flow in names
        return any(
            first in (own, _host(own)) and second in (other, _host(other)) for own, other in (ends, reversed(ends))
        )

    def packets(self, rows: int = 200_000) -> pl.DataFrame:
        """Returns the packets of the connection, which are read from the file again; at most ``rows``, evenly
        decimated.

        ``start`` and ``ack`` are offsets in bytes: data starts at 1, after the SYN. ``in_flight_bytes`` is the number
        of bytes that the sender of the packet has in flight after sending it, ``other_in_flight_bytes`` the number that
        its peer has in flight.
        """
        import polars as pl

        return pl.DataFrame(_read(self.capture.path, trace=self.number, rows=rows).trace())

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """Returns a figure: sequence over time with retransmissions, and bytes in flight.

        Parameters
        ----------
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Two existing axes to draw into, for the sequence and for the bytes in flight; by default a new figure is
            created.
        """
        from lightlag.captures import plot as capture_plot
        from lightlag.captures.sides import Side

        ends = (self.client, self.server) if self.sender == "client" else (self.server, self.client)
        figure = capture_plot.connection(Side.of_capture(self), ends, ax=ax)
        if path is not None:
            figure.save(path)
        return figure

    def __repr__(self) -> str:
        return f"<Connection {self.number}: {self.client} to {self.server}, {self.payload_bytes} bytes of data>"


_NESTED = {
    "handshake": ("mss", "window_scale", "sack_permitted", "timestamps", "ecn", "window"),
    "rtt": ("by", "samples", "min_s", "median_s", "mean_s", "p95_s", "max_s"),
}


def _fast_open(cookie: int | None, data: int) -> str:
    if cookie is None:
        return "–"
    request = f"cookie of {cookie} B" if cookie else "requests a cookie"
    return f"{request}, {data:,} B of data" if data else request


def _host(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")


def connection_rows(connections: list[Connection]) -> list[Row]:
    """Returns connections as a text table: a row for each direction with data, for the 20 connections with the most
    data.
    """
    largest = sorted(connections, key=lambda each: (-each.payload_bytes, each.number))[:_SHOWN]
    rows = []
    for each in sorted(largest, key=lambda each: each.number):
        ends = {"forward": (each.client, each.server), "backward": (each.server, each.client)}
        used = [name for name in ends if each.summary[name]["payload_bytes"]] or ["forward"]
        for name in used:
            found, answers = each.summary[name], each.summary["backward" if name == "forward" else "forward"]
            rows.append(
                {
                    "#": str(each.number),
                    "from": ends[name][0],
                    "to": ends[name][1],
                    "state": str(each.summary["state"]),
                    "start": _seconds(each.summary["start_s"]),
                    "duration": _seconds(each.summary["duration_s"]),
                    "packets": f"{found['packets']:,}",
                    "data": size(found["unique_bytes"]),
                    "goodput": _optional(rate, found["goodput_bps"]),
                    "retransmitted": share(found["retransmitted_segments"], found["packets"]),
                    "out of order": f"{found['out_of_order']:,}",
                    "dup ACKs": f"{answers['duplicate_acks']:,}",
                    "RTT": _optional(milliseconds, each.summary["rtt_s"]),
                    "seen at": _seen_at(each, name),
                }
            )
    return rows


def _seen_at(connection: Connection, direction: str) -> str:
    """Returns the capture point on the path of this direction's data: at its sender, its receiver or between them."""
    vantage = connection.summary["vantage"]
    if vantage is None:
        return "–"
    is_main = direction == ("forward" if connection.sender == "client" else "backward")
    return str(vantage if is_main else {"sender": "receiver", "receiver": "sender"}.get(vantage, vantage))


def detail_rows(connection: Connection) -> list[Row]:
    """Returns the statistics of a connection as text, both directions side by side, without rows that have no value."""
    forward, backward = connection.summary["forward"], connection.summary["backward"]
    rows = []
    for title, show in _DETAILS:
        values = show(forward), show(backward)
        if any(value not in ("0", "–") for value in values):
            rows.append({"": title, "client to server": values[0], "server to client": values[1]})
    return rows


def _count(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda found: f"{found[key]:,}"


def _option(show: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    return lambda found: "–" if found["handshake"] is None else show(found["handshake"])


def _capabilities(offer: dict[str, Any] | None) -> str:
    """Returns the SCPS-TP capabilities of an offer, by the names that tshark uses."""
    if offer is None:
        return "–"
    names = {
        "bets": "BETS",
        "snack_short": "SNACK1",
        "snack_long": "SNACK2",
        "compression": "COMP",
        "network_timestamps": "NLTS",
    }
    return ", ".join(name for key, name in names.items() if offer[key]) or "none"


def _rtt(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda found: "–" if found["rtt"] is None else milliseconds(found["rtt"][key])


_DETAILS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("MSS", _option(lambda syn: "–" if syn["mss"] is None else f"{syn['mss']} B")),
    ("window scale", _option(lambda syn: "–" if syn["window_scale"] is None else str(syn["window_scale"]))),
    ("SACK", _option(lambda syn: "yes" if syn["sack_permitted"] else "no")),
    ("timestamps", _option(lambda syn: "yes" if syn["timestamps"] else "no")),
    ("ECN", _option(lambda syn: str(syn["ecn"]))),
    ("fast open", _option(lambda syn: _fast_open(syn.get("fast_open"), syn.get("data", 0)))),
    ("SCPS capabilities", _option(lambda syn: _capabilities(syn.get("scps")))),
    ("packets", _count("packets")),
    ("data segments", _count("data_segments")),
    ("payload", lambda found: f"{found['payload_bytes']:,} B"),
    ("unique data", lambda found: f"{found['unique_bytes']:,} B"),
    ("goodput", lambda found: _optional(rate, found["goodput_bps"])),
    ("retransmitted segments", _count("retransmitted_segments")),
    ("  SYN, FIN without data", _count("retransmitted_controls")),
    ("  fast", _count("fast_retransmissions")),
    ("  after a timeout", _count("timeout_retransmissions")),
    ("  tail probes", _count("tail_probes")),
    ("  lost before the capture", _count("lost_before")),
    ("  not needed (D-SACK)", _count("spurious_retransmissions")),
    ("retransmitted bytes", _count("repeated_bytes")),
    ("out of order", _count("out_of_order")),
    ("duplicate ACKs", _count("duplicate_acks")),
    ("window updates", _count("window_updates")),
    ("SACK blocks", _count("sack_blocks")),
    ("D-SACK blocks", _count("dsack_blocks")),
    ("SNACK options", _count("snack_options")),
    ("corruption experienced options", _count("corruption_options")),
    ("record boundaries", _count("record_boundaries")),
    ("compressed headers", _count("compressed_headers")),
    ("zero windows", _count("zero_windows")),
    ("window full", _count("window_full")),
    ("window probes", _count("window_probes")),
    ("keep-alives", _count("keep_alives")),
    ("RTT beyond the capture, by", lambda found: "–" if found["rtt"] is None else str(found["rtt"]["by"])),
    ("RTT beyond the capture, minimum", _rtt("min_s")),
    ("RTT beyond the capture, median", _rtt("median_s")),
    ("RTT beyond the capture, mean", _rtt("mean_s")),
    ("RTT beyond the capture, 95th percentile", _rtt("p95_s")),
    ("RTT beyond the capture, maximum", _rtt("max_s")),
    ("in flight, maximum", lambda found: size(found["max_in_flight_bytes"]) if found["max_in_flight_bytes"] else "–"),
    ("in flight, mean", lambda found: _optional(size, found["mean_in_flight_bytes"])),
    ("ECN-capable packets", _count("ect_packets")),
    ("packets marked CE", _count("ce_packets")),
    ("segments with ECE", _count("ece_segments")),
    ("segments with CWR", _count("cwr_segments")),
    ("AccECN options", _count("accecn_options")),
    ("  data reported as CE", _count("reported_ce_bytes")),
    ("  data reported as ECT(0)", _count("reported_ect0_bytes")),
    ("  data reported as ECT(1)", _count("reported_ect1_bytes")),
    ("gaps in the capture", _count("gaps")),
    ("bytes in gaps", _count("gap_bytes")),
    ("wrong checksums", _count("checksum_errors")),
    ("malformed options", _count("malformed_options")),
    ("headers cut by the capture", _count("cut_headers")),
)


def _optional(show: Callable[[float], str], value: float | None) -> str:
    return "–" if value is None else show(value)


def _seconds(value: float) -> str:
    return f"{number(value)} s"


def milliseconds(value: float) -> str:
    """Formats a time for display.

    Examples
    --------
    >>> milliseconds(0.60123)
    '601.2 ms'
    """
    return _time_for_people(value)
