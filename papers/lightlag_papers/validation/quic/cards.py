"""The experiment cards: TOML files with the setup of each printed number, its kind and its source."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from lightlag.errors import InputError
from lightlag_papers.validation.quic.tolerances import BOUND, OWN, PRINTED

__all__ = ["FOLDER", "METRICS", "NAMES", "Card", "Change", "Kind", "Line", "Settings", "card", "merged"]

FOLDER = Path(__file__).parent / "cards"
NAMES = ("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11")
"""Files of the cards in the order of the page."""
METRICS = {
    "time": "s",
    "packets": "packets",
    "return": "MB",
    "return with drops": "MB",
    "goodput": "Mbit/s",
    "third second": "Mbit/s",
}
"""The quantities that a card compares, with their units."""

Settings = dict[str, Any]
KEYS = {
    *(
        "rate",
        "back",
        "delay",
        "queue",
        "loss",
        "lost_every",
        "jitter",
        "request",
        "size",
        "count",
        "length",
        "quic",
        "transport",
    ),
    *("servers_link", "testbed", "loss_percent", "proxy", "seeds"),
}
"""Settings of a run; `lightlag_papers.validation.quic.paths` explains them."""


class Kind(Enum):
    """The kind of a printed number, which determines the criterion."""

    BOUND = "bound"
    MEDIAN = "median"
    MEAN = "mean"
    RUN = "run"
    OWN = "own"
    OWN_BOUND = "own bound"
    OPEN = "open"

    @property
    def is_bound(self) -> bool:
        """Whether a smaller value is as good."""
        return self in {Kind.BOUND, Kind.OWN_BOUND}

    @property
    def is_own(self) -> bool:
        """Whether the criterion is ours and not from the source."""
        return self in {Kind.OWN, Kind.OWN_BOUND}

    @property
    def sign(self) -> str:
        """Returns the sign of a bound, or nothing."""
        return "≤ " if self.is_bound else ""

    @property
    def tolerance(self) -> float | None:
        """The tolerance; None if there is no verdict because the source leaves a decisive setting open."""
        if self is Kind.OPEN:
            return None
        return {Kind.BOUND: BOUND, Kind.OWN_BOUND: BOUND, Kind.OWN: OWN}.get(self, PRINTED)


@dataclass(frozen=True)
class Change:
    """A setting that is changed alone to test a suspected cause."""

    name: str
    settings: Settings


@dataclass(frozen=True)
class Line:
    """Runs that differ in one setting only, each with its printed number.

    Attributes
    ----------
    setup
        Path and transfer.
    sender
        Implementation and congestion control.
    kind, metric
        Kind and quantity of the numbers.
    labels
        Value of the setting that varies, for each number; one empty label if none varies.
    printed
        The printed values.
    ranges
        Printed minimum and maximum of each number; empty if the source has none.
    runs
        Settings of each number.
    base
        Settings of the run that all numbers are relative to; None where they are absolute.
    changes
        Changes that test suspected causes.
    """

    setup: str
    sender: str
    kind: Kind
    metric: str
    labels: tuple[str, ...]
    printed: tuple[float, ...]
    ranges: tuple[tuple[float, float], ...]
    runs: tuple[Settings, ...]
    base: Settings | None
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Card:
    """An experiment with its source.

    Attributes
    ----------
    name, title, source, about
        Name and heading; the source; common setup, and settings that the source leaves open.
    lines
        Lines of the table.
    deviation
        Causes of deviations that the changes show; empty if there is none to explain.
    """

    name: str
    title: str
    source: str
    about: str
    lines: tuple[Line, ...]
    deviation: str = ""


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """Returns settings with changes; tables are merged key by key.

    Examples
    --------
    >>> merged({"quic": {"profile": "quinn"}, "size": "1 MB"}, {"quic": {"pacing": False}})
    {'quic': {'profile': 'quinn', 'pacing': False}, 'size': '1 MB'}
    """
    found = dict(settings)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merged(found[key], value) if both else value
    return found


def card(name: str, folder: Path = FOLDER) -> Card:
    """Reads a card.

    Raises
    ------
    InputError
        If the file is not a card: the message has the file, the line of the card, and the wrong key.
    """
    path = folder / f"{name}.toml"
    try:
        content = tomllib.loads(path.read_text("utf-8"))
        lines = tuple(line for entry in content["lines"] for line in _lines(entry, content))
        return Card(
            content["name"], content["title"], content["source"], content["about"], lines, content.get("deviation", "")
        )
    except (OSError, tomllib.TOMLDecodeError, ValueError) as error:
        raise InputError(f"{path}: {error}; write a card as in {FOLDER / 'q1.toml'}") from error
    except KeyError as error:
        raise InputError(f"{path}: has no key {error}; write a card as in {FOLDER / 'q1.toml'}") from error


def _lines(entry: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[Line]:
    """Returns the line of an entry, or one per sender."""
    setup = entry["setup"]
    own = {"name": entry.get("sender", ""), "set": {}}
    senders = [own] if "sender" in entry else content.get("senders", [own])
    changes = [*content.get("changes", []), *entry.get("changes", [])]
    for sender in senders:
        settings = merged(merged(content.get("set", {}), sender["set"]), entry.get("set", {}))
        varied = entry.get("vary", [{}])
        printed = tuple(float(one) for one in entry["printed"])
        labels = tuple(str(one.get("label", "")) for one in varied)
        if len(printed) != len(varied):
            raise ValueError(f'"{setup}" has {len(printed)} printed numbers for {len(varied)} settings')
        runs = tuple(merged(settings, {key: v for key, v in one.items() if key != "label"}) for one in varied)
        tests = tuple(Change(one["name"], one["set"]) for one in changes if sender["name"] not in one.get("not", []))
        base = merged(settings, entry["base"]) if "base" in entry else None
        for one in (*runs, base or {}, *(test.settings for test in tests)):
            if wrong := sorted(set(one) - KEYS):
                raise ValueError(f'"{setup}" has the unknown setting "{wrong[0]}"')
        metric = entry.get("metric", content.get("metric", "time"))
        if metric not in METRICS:
            raise ValueError(f'"{setup}" has the unknown metric "{metric}"')
        kind = Kind(entry.get("kind", content.get("kind")))
        ranges = tuple((low, high) for low, high in entry.get("ranges", []))
        yield Line(setup, sender["name"], kind, metric, labels, printed, ranges, runs, base, tests)
