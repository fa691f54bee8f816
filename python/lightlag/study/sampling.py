"""Points that fill a space: Latin hypercubes and Sobol sequences over ranges of quantities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["DESIGNS", "Range", "sampled"]

DESIGNS = ("latin-hypercube", "sobol")
SCALES = ("linear", "log")
DIGITS = 6
"""Of a sampled value: a scenario that is written down has the value that ran."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a quantity.

    Attributes
    ----------
    low, high
        In `unit`.
    unit
        As it stands behind the number in a scenario; empty for plain numbers.
    is_log
        Equal ratios are equally likely, instead of equal differences.
    is_whole
        Values are whole numbers, both ends included.
    """

    low: float
    high: float
    unit: str = ""
    is_log: bool = False
    is_whole: bool = False

    @classmethod
    def of(cls, given: Any, place: str) -> Range:
        """A range from ``["5 ms", "300 ms"]``, or from a table with ``from``, ``to``, ``scale`` and ``whole``.

        Raises
        ------
        InputError
            If it is none, or if its ends do not fit together.
        """
        table = {"from": given[0], "to": given[1]} if isinstance(given, list) and len(given) == 2 else given
        if not isinstance(table, dict) or not {"from", "to"} <= table.keys() <= {"from", "to", "scale", "whole"}:
            raise InputError(
                f"{place}: {printable(repr(given)):.60} is no range; write [LOW, HIGH] or {{ from = LOW, to = HIGH, "
                f'scale = "log" }}'
            )
        (low, unit), (high, other) = (_quantity(table[end], f"{place}.{end}") for end in ("from", "to"))
        if unit != other:
            raise InputError(f'{place}: its ends have the units "{unit}" and "{other}"; write both in the same one')
        scale, whole = table.get("scale", "linear"), table.get("whole", False)
        if scale not in SCALES:
            raise InputError(f"{place}.scale: {printable(repr(scale)):.60} is no scale; write linear or log")
        if not isinstance(whole, bool):
            raise InputError(f"{place}.whole: {printable(repr(whole)):.60} is neither true nor false")
        if low >= high:
            raise InputError(f"{place}: {low:g} is not below {high:g}; write the smaller end first")
        if scale == "log" and low <= 0:
            raise InputError(f"{place}: {low:g} has no place on a logarithmic scale; start above 0")
        if whole and not (low.is_integer() and high.is_integer()):
            raise InputError(f"{place}: {low:g} to {high:g} are not whole numbers; leave out whole, or round them")
        return cls(low, high, unit, scale == "log", whole)

    def value(self, share: float) -> str:
        """The value at a share of the range, from 0 on and below 1, as text.

        Examples
        --------
        >>> Range(5.0, 305.0, "ms").value(0.5), Range(1e-5, 1e-1, is_log=True).value(0.5)
        ('155 ms', '0.001')
        >>> [Range(1.0, 3.0, is_whole=True).value(share) for share in (0.0, 0.34, 0.99)]
        ['1', '2', '3']
        """
        low, high = self.low, self.high + self.is_whole
        if self.is_log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        text = str(math.floor(number)) if self.is_whole else f"{number:.{DIGITS}g}"
        return f"{text} {self.unit}".rstrip()


def _quantity(value: Any, place: str) -> tuple[float, str]:
    text = f"{value:.17g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    found = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?", str(text))
    if not isinstance(text, str) or found is None or not math.isfinite(float(found[1])):
        raise InputError(f"{place}: {printable(repr(value)):.60} is no quantity; write a number with the key's unit")
    return float(found[1]), (found[2] or "").strip()


def sampled(design: str, count: int, seed: int, ranges: Sequence[Range], place: str) -> Iterator[tuple[str, ...]]:
    """The points of a design, each with a value from every range.

    The Latin hypercube is that of McKay, Beckman and Conover (1979), the Sobol sequence that of Joe and Kuo (2008)
    with Owen's scrambling, both by ``scipy.stats.qmc``. The same seed gives the same points.

    Raises
    ------
    InputError
        If SciPy is not there, or if a Sobol sequence does not have a power of 2 of points.
    """
    if design == "sobol" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise InputError(
            f"{place}.count: a Sobol sequence is balanced with a power of 2 of points only, and {count} is none; write "
            f"{below} or {2 * below}"
        )
    try:
        from scipy.stats import qmc
    except ImportError:
        raise InputError(f'{place}.design: "{design}" needs SciPy; pip install "lightlag[study]"') from None
    kind = qmc.LatinHypercube if design == "latin-hypercube" else qmc.Sobol
    for shares in kind(len(ranges), rng=seed).random(count):
        yield tuple(one.value(float(share)) for one, share in zip(ranges, shares, strict=True))
