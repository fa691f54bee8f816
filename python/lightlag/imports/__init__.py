"""Converts measurements to scenarios: a reader extracts the facts of a path from a file, ``page`` writes the scenario.

- ``found``: the contents of a file: rates, delays and losses over time, each with its origin.
- ``texts``: reads files as text, also compressed ones; every error names its line.
- ``sample``: the start of a file, by which readers recognise their format.
- ``hypatia_network``, ``capture``, ``har``, ``irtt``, ``iperf``, ``iperf_text``, ``nuttcp``, ``fping``, ``ping``,
  ``motion``, ``hypatia``, ``mahimahi``, ``delay_list``, ``lens``, ``table``: the readers. Each has ``ABOUT``,
  ``recognises`` and ``read``.
- ``har_load``: the page that the requests in a HAR file make up.
- ``merge``: the facts of several files of one path on one time axis.
- ``page``: the scenario, with a comment for each value.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from lightlag.errors import InputError
from lightlag.imports.found import Found, Options
from lightlag.imports.page import Page, write
from lightlag.imports.sample import Sample
from lightlag.text.terminal import printable

__all__ = ["KINDS", "Found", "Options", "Page", "kind_of", "read", "to_scenario"]

KINDS: Mapping[str, str] = {
    "hypatia-network": "hypatia_network",
    "capture": "capture",
    "har": "har",
    "irtt": "irtt",
    "iperf3": "iperf",
    "iperf": "iperf_text",
    "nuttcp": "nuttcp",
    "fping": "fping",
    "ping": "ping",
    "ns2": "motion",
    "ns3": "motion",
    "bonnmotion": "motion",
    "sumo": "motion",
    "hypatia": "hypatia",
    "mahimahi": "mahimahi",
    "delays": "delay_list",
    "lens": "lens",
    "csv": "table",
}
"""The modules that read each kind of file, in the order in which they try to recognise a file. The table is last."""


_SCENARIO = frozenset({"links", "flows", "topology", "media", "nodes", "stations", "constellation"})
_STUDY = frozenset({"scenario", "scenarios", "vary"})


class Reader(Protocol):
    """A module that reads one kind of file."""

    ABOUT: str
    """Description of the kind of file, in a few words."""

    def recognises(self, sample: Sample, /) -> bool:
        """Returns True if the start of a file is certainly of this kind."""

    def read(self, path: Path, options: Options, /) -> Found:
        """Returns the facts of a path in a file."""


OTHERS: tuple[tuple[str, str], ...] = (
    (r"(?i)^\s*<(?:!doctype html|html)", "is a web page; name the file with the measurement itself"),
    (r"^HOST: .*Loss%|^Start: \d{4}-", "is a report by mtr; use ping to the same host"),
    (r"(?i)^traceroute to |^tracing route to ", "is the output of traceroute; use ping to the same host"),
    (r"^\s*SEQ HOST\s+SIZE TTL TIME", "is a ping of RouterOS; use ping on a host"),
    (r"^Sending \d+, \d+-byte ICMP Echos", "is a ping of Cisco IOS without round trips; use ping on a host"),
    (r"^Source\s+Destination\s+IPV4Address", "is the output of Test-Connection; use ping"),
    (r'Speedtest by Ookla|"download"\s*:\s*\{\s*"bandwidth"', "is a speed test without intervals; use iperf3"),
    (r"^[1-9] .{67}\s*$", "holds orbits (TLE); name it as file of a [constellation]"),
    (r"^#!", "is a program; name the file with its output"),
)  # fmt: skip
"""Patterns of files that cannot be imported, each with a hint: other commands read them, or none does."""


def read(path: Path, kind: str | None = None, options: Options | None = None) -> Found:
    """Returns the facts of a path in a file.

    Raises
    ------
    InputError
        If the file is not of the given kind, or has errors; the message names the file, the line and a fix.
    """
    options = Options() if options is None else options
    kind = kind_of(path, options) if kind is None else kind
    if kind not in KINDS:
        raise InputError(f'"{printable(kind)}" is not a valid file format; there are {", ".join(KINDS)}')
    if (options.columns or options.missing) and kind != "csv":
        option = "--column names the columns" if options.columns else "--missing names values"
        raise InputError(f"{option} of a table, and {printable(path)} is {_reader(kind).ABOUT}; leave it out")
    return _reader(kind).read(path, options)


def _reader(kind: str) -> Reader:
    return cast(Reader, importlib.import_module(f"lightlag.imports.{KINDS[kind]}"))


def kind_of(path: Path, options: Options | None = None) -> str:
    """Returns the kind of a file, from its contents. A file whose columns are given is a table.

    Raises
    ------
    InputError
        If it cannot be read, or no reader recognises it.
    """
    sample = Sample(path)
    for kind in KINDS:
        if _reader(kind).recognises(sample):
            return kind
    if options is not None and options.columns:
        return "csv"
    raise _unrecognised(path, sample)


def _unrecognised(path: Path, sample: Sample) -> InputError:
    """Returns an error that names the format of the file, or the formats that can be read."""
    from lightlag.imports import texts

    text = texts.text(path)
    if _is_document(text, _SCENARIO):
        reason = 'is a scenario already; run it with "lightlag run"'
    elif _is_document(text, _STUDY):
        reason = 'is a study; run it with "lightlag study run"'
    else:
        remedies = (remedy for line in sample.lines for pattern, remedy in OTHERS if re.search(pattern, line))
        known = "; ".join(dict.fromkeys(_reader(kind).ABOUT for kind in KINDS))
        reason = next(remedies, f"is not recognised; import reads {known}; name the format with --from")
    return InputError(f"{printable(path)}: {reason}")


def _is_document(text: str, keys: frozenset[str]) -> bool:
    """Returns true if a text is TOML or JSON with any of these keys."""
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and not keys.isdisjoint(document)


def to_scenario(
    path: Path, *, kind: str | None = None, name: str | None = None, options: Options | None = None
) -> Page:
    """Returns a scenario of a measurement: its text and the files that belong next to it.

    The options may name a second file for the direction to the server, and one with delays and losses.
    """
    options = Options() if options is None else options
    several = options.up is not None or options.delays is not None
    found = _merged(path, kind, options) if several else read(path, kind, options)
    return write(path, found, name, options)


def _merged(path: Path, kind: str | None, options: Options) -> Found:
    """Returns the facts of a file together with the facts of the files for the other direction and for delays."""
    from lightlag.imports import delay_list, merge

    kinds = {path: kind_of(path, options) if kind is None else kind}
    if options.up is not None:
        kinds[options.up] = kind_of(options.up, options)
    if options.delays is not None:
        is_list = delay_list.is_list(Sample(options.delays))
        kinds[options.delays] = "delays" if is_list else kind_of(options.delays, options)
    options_of = _options_of(kinds, options)
    found = read(path, kinds[path], options_of[path])
    if options.up is not None:
        up = read(options.up, kinds[options.up], options_of[options.up])
        found = merge.directions(path, found, options.up, up)
    if options.delays is not None:
        delays = read(options.delays, kinds[options.delays], options_of[options.delays])
        found = merge.delays(path, found, options.delays, delays)
    return found


def _options_of(kinds: Mapping[Path, str], options: Options) -> dict[Path, Options]:
    """Returns the options of each file: the columns that its table has. The first table reports those that none has."""
    from lightlag.imports import table

    tables = [file for file, kind in kinds.items() if kind == "csv"]
    if not tables and (options.columns or options.missing):
        raise InputError("--column and --missing are for tables, and none of the files is one; leave them out")
    known = {file: table.known_columns(file, options.columns) for file in tables}
    unknown = tuple(text for text in options.columns if not any(text in texts for texts in known.values()))
    for file in tables[:1]:
        known[file] += unknown
    missing = options.missing
    return {
        file: replace(
            options, columns=known.get(file, ()), missing=missing if file in known else (), up=None, delays=None
        )
        for file in kinds
    }
