"""Measurements as scenarios: a reader turns a file into what it says of a path, and ``page`` writes the scenario.

- ``found``: what a file says: rates, delays and losses over time, each with its origin.
- ``texts``: files as text, with every mistake named by its line.
- ``iperf``, ``ping``, ``irtt``, ``mahimahi``, ``table``, ``hypatia``, ``hypatia_network``, ``motion``, ``capture``: the
  readers.
- ``page``: the scenario, with a comment for each value.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from lightlag._text import printable
from lightlag.errors import InputError
from lightlag.imports.found import Found, Options
from lightlag.imports.page import Page, write

__all__ = ["KINDS", "Found", "Options", "Page", "kind_of", "read", "to_scenario"]

KINDS: Mapping[str, str] = {
    "iperf3": "a test by iperf3 --json",
    "ping": "the output of ping",
    "irtt": "the JSON of irtt",
    "mahimahi": "delivery opportunities in milliseconds, of mahimahi",
    "csv": "a table with times and any of rate, delay, RTT and loss",
    "hypatia": "round trips or paths over time, of Hypatia",
    "hypatia-network": "satellites, stations and links of Hypatia: the folder with tles.txt and ground_stations.txt",
    "ns2": "movements of nodes, of ns-2 or for ns-3's Ns2MobilityHelper",
    "ns3": "changes of course, of ns-3's MobilityHelper::EnableAscii",
    "bonnmotion": "movements of nodes, by BonnMotion",
    "sumo": "movements of vehicles: SUMO's --fcd-output",
    "capture": "a pcap or pcapng file",
}
"""The kinds of files that can be read."""

_MODULES = {
    "csv": "table",
    "iperf3": "iperf",
    "hypatia-network": "hypatia_network",
    **dict.fromkeys(("ns2", "ns3", "bonnmotion", "sumo"), "motion"),
}
_MAGIC = tuple(bytes.fromhex(word) for word in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))


def read(path: Path, kind: str | None = None, options: Options | None = None) -> Found:
    """The facts of a path in a file.

    Raises
    ------
    InputError
        If it is not of its kind, or something in it is wrong; the message names the file, the line and a remedy.
    """
    options = Options() if options is None else options
    kind = kind_of(path) if kind is None else kind
    if kind not in KINDS:
        raise InputError(f'no kind "{printable(kind)}" of files; there are {", ".join(KINDS)}')
    if options.columns and kind != "csv":
        raise InputError(f"--column names the columns of a table, and {printable(path)} is {KINDS[kind]}")
    module = importlib.import_module(f"lightlag.imports.{_MODULES.get(kind, kind)}")
    found: Found = module.read(path, options)
    return found


def kind_of(path: Path) -> str:
    """The kind of a file, by its contents.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    from lightlag.imports import hypatia_network, motion, texts

    if hypatia_network.is_network(path):
        return "hypatia-network"
    if texts.head(path, 4) in _MAGIC:
        return "capture"
    text = texts.start(path)
    lines = [line for line in text.splitlines() if line.strip()][:50]
    if text.lstrip()[:1] == "{":
        return "irtt" if '"irtt' in text or '"round_trips"' in text or '"send_call"' in text else "iperf3"
    movements = (("ns2", motion.is_script), ("sumo", motion.is_vehicles), ("bonnmotion", motion.is_bonnmotion))
    for kind, fits in (*movements, *texts.SIGNS):
        if fits(lines):
            return kind
    return "csv"


def to_scenario(
    path: Path, *, kind: str | None = None, name: str | None = None, options: Options | None = None
) -> Page:
    """A scenario of a measurement: its text and the files beside it."""
    return write(path, read(path, kind, options), name, Options() if options is None else options)
