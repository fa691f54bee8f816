"""Names in figures: algorithms as the literature writes them, and labels of the caller's choice.

Scenarios, tables and options keep the names of scenarios, such as ``bbr3``; only figures write ``BBRv3``.

Examples
--------
>>> from lightlag.drawing import names
>>> names.algorithm("newreno"), names.algorithm("cubic/bbr3"), names.algorithm("cubic (beta=0.8)")
('NewReno', 'CUBIC/BBRv3', 'CUBIC (beta=0.8)')
>>> with names.within({"cubic": "Linux's CUBIC"}):
...     print(names.algorithm("cubic"))
Linux's CUBIC
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["ALGORITHMS", "algorithm", "check_known", "check_used", "given", "of_options", "plain", "within"]

ALGORITHMS = {
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "bic": "BIC",
    "compound": "Compound",
    "copa": "Copa",
    "cubic": "CUBIC",
    "dctcp": "DCTCP",
    "fast": "FAST",
    "highspeed": "HighSpeed",
    "htcp": "H-TCP",
    "hybla": "Hybla",
    "illinois": "Illinois",
    "jersey": "Jersey",
    "ledbat": "LEDBAT",
    "leocc": "LeoCC",
    "newreno": "NewReno",
    "none": "no control",
    "noordwijk": "Noordwijk",
    "peach": "Peach",
    "peach+": "Peach+",
    "reno": "Reno",
    "satpipe": "SatPipe",
    "scalable": "Scalable",
    "star": "STAR",
    "suss": "SUSS",
    "tahoe": "Tahoe",
    "udp": "UDP",
    "vegas": "Vegas",
    "veno": "Veno",
    "wave": "Wave",
    "westwood": "Westwood",
    "westwood+": "Westwood+",
    "westwoodbr": "Westwood BR",
    "yeah": "YeAH",
}
"""Names of algorithms in their papers, without the word TCP, by their names in scenarios; and UDP."""


@dataclass
class _Labels:
    """Labels of the caller, and the names that figures have had so far."""

    given: Mapping[str, str] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)


_current: ContextVar[_Labels] = ContextVar("labels")


@contextmanager
def within(labels: Mapping[str, str] | None) -> Iterator[None]:
    """Replaces names in the figures that are created within the block. Labels of an outer block hold as well.

    Parameters
    ----------
    labels
        Labels by name: of an algorithm, a variable, a run, a flow or a metric. Names that no figure has are ignored;
        None changes nothing.

    Raises
    ------
    InputError
        If it is not a mapping of texts.
    """
    if labels is None:
        yield
        return
    if not isinstance(labels, Mapping) or not all(isinstance(one, str) for each in labels.items() for one in each):
        raise InputError(
            f'labels: {printable(repr(labels)):.60} is not a mapping of names to texts; write {{"cubic": "CUBIC"}}'
        )
    token = _current.set(_Labels({**given(), **labels}))
    try:
        yield
    finally:
        _current.reset(token)


def given() -> Mapping[str, str]:
    """Returns the labels that hold at present."""
    return _current.get(_Labels()).given


def plain(name: str) -> str:
    """Returns the label of a name: of a run, a flow, a variable or a metric. Without a label, the name itself."""
    labels = _current.get(None)
    if labels is None:
        return name
    labels.seen[name] = None
    return labels.given.get(name, name)


def algorithm(name: str) -> str:
    """Returns the label of a candidate of a comparison; by default as the literature writes its algorithms.

    A candidate is an algorithm, several that compete, one with parameters, or one of a comparison that is named before
    a colon.
    """
    label = plain(name)
    if label != name:
        return label
    before, colon, after = name.rpartition(": ")
    if colon:
        return f"{plain(before)}: {algorithm(after)}"
    if found := re.fullmatch(r"(.+?) (\(.*\))", name):
        return f"{algorithm(found[1])} {found[2]}"
    if "/" in name:
        return "/".join(map(algorithm, name.split("/")))
    return ALGORITHMS.get(name, name)


def check_used() -> None:
    """Fails if a label names nothing in the figures of this block.

    Raises
    ------
    InputError
        With the names that there are.
    """
    labels = _current.get(_Labels())
    check_known(labels.given, list(labels.seen))


def check_known(labels: Iterable[str], known: Sequence[str]) -> None:
    """Fails if a label is for none of these names.

    Raises
    ------
    InputError
        With the names that there are.
    """
    for name in labels:
        if name not in known:
            shown = {one.lower(): one for one in known}
            near = difflib.get_close_matches(name.lower(), shown, 1)
            hint = f' (did you mean "{printable(shown[near[0]])}"?)' if near else ""
            listed = ", ".join(map(printable, known)) or "no names"
            raise InputError(f'--label: the figure has no name "{printable(name)}"{hint}; it has {listed}')


def of_options(texts: list[str] | None) -> dict[str, str] | None:
    """Returns the labels of ``--label NAME=TEXT``; None without the option.

    Examples
    --------
    >>> of_options(["cubic=CUBIC", "a->b=uplink"])
    {'cubic': 'CUBIC', 'a->b': 'uplink'}
    """
    if not texts:
        return None
    found: dict[str, str] = {}
    for text in texts:
        name, equals, label = (part.strip() for part in text.partition("="))
        if not (name and equals and label):
            raise InputError(f"--label {printable(text)}: is not NAME=TEXT; write for example --label cubic=CUBIC")
        if name in found:
            raise InputError(f'--label: "{printable(name)}" is named twice; give it one label')
        found[name] = label
    return found
