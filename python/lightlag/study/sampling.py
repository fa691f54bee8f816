"""Space-filling designs: Latin hypercubes and Sobol sequences over ranges of quantities."""

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
WHOLE = "whole"
"""Key of a range that restricts it to integers."""
DIGITS = 6
"""Number of significant digits of a sampled value: a saved scenario contains exactly the value that was run."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of a quantity.

    Attributes
    ----------
    low, high
        Limits in `unit`.
    unit
        Unit as written after the number in a scenario; empty for plain numbers.
    is_log
        Whether values are distributed evenly on a logarithmic scale, instead of a linear one.
    is_integer
        Whether values are integers; both limits are included.
    """

    low: float
    high: float
    unit: str = ""
    is_log: bool = False
    is_integer: bool = False

    @classmethod
    def of(cls, given: Any, place: str) -> Range:
        """Returns a range from ``["5 ms", "300 ms"]``, or from a table with ``from``, ``to``, ``scale`` and ``whole``.

        Raises
        ------
        InputError
            If it is not a valid range, or if its limits are inconsistent.
        """
        table = {"from": given[0], "to": given[1]} if isinstance(given, list) and len(given) == 2 else given
        if not isinstance(table, dict) or not {"from", "to"} <= table.keys() <= {"from", "to", "scale", WHOLE}:
            raise InputError(
                f"{place}: {printable(repr(given)):.60} is not a valid range; write [LOW, HIGH] or {{ from = LOW, "
                f'to = HIGH, scale = "log" }}'
            )
        (low, unit), (high, other) = (_quantity(table[end], f"{place}.{end}") for end in ("from", "to"))
        if unit != other:
            raise InputError(f'{place}: its limits have the units "{unit}" and "{other}"; write both in the same unit')
        scale, is_integer = table.get("scale", "linear"), table.get(WHOLE, False)
        if scale not in SCALES:
            raise InputError(f"{place}.scale: {printable(repr(scale)):.60} is not a valid scale; write linear or log")
        if not isinstance(is_integer, bool):
            raise InputError(f"{place}.{WHOLE}: {printable(repr(is_integer)):.60} is neither true nor false")
        if low >= high:
            raise InputError(f"{place}: {low:g} is not below {high:g}; write the lower limit first")
        if scale == "log" and low <= 0:
            raise InputError(f"{place}: {low:g} is not valid on a logarithmic scale; start above 0")
        if is_integer and not (low.is_integer() and high.is_integer()):
            raise InputError(f"{place}: {low:g} to {high:g} are not integers; remove {WHOLE}, or round them")
        return cls(low, high, unit, scale == "log", is_integer)

    def value(self, share: float) -> str:
        """Returns the value at a fraction of the range, 0 <= `share` < 1, as text.

        Examples
        --------
        >>> Range(5.0, 305.0, "ms").value(0.5), Range(1e-5, 1e-1, is_log=True).value(0.5)
        ('155 ms', '0.001')
        >>> [Range(1.0, 3.0, is_integer=True).value(share) for share in (0.0, 0.34, 0.99)]
        ['1', '2', '3']
        """
        low, high = self.low, self.high + self.is_integer
        if self.is_log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        text = str(math.floor(number)) if self.is_integer else f"{number:.{DIGITS}g}"
        return f"{text} {self.unit}".rstrip()


def _quantity(value: Any, place: str) -> tuple[float, str]:
    text = f"{value:.17g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    found = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?", str(text))
    if not isinstance(text, str) or found is None or not math.isfinite(float(found[1])):
        raise InputError(
            f"{place}: {printable(repr(value)):.60} is not a valid quantity; write a number with the key's unit"
        )
    return float(found[1]), (found[2] or "").strip()


def sampled(design: str, count: int, seed: int, ranges: Sequence[Range], place: str) -> Iterator[tuple[str, ...]]:
    """Yields the points of a design, each with a value from every range.

    The Latin hypercube follows McKay, Beckman and Conover (1979), the Sobol sequence Joe and Kuo (2008) with Owen's
    scrambling, both from ``scipy.stats.qmc``. The same seed gives the same points.

    Raises
    ------
    InputError
        If SciPy is not installed, or if the number of points of a Sobol sequence is not a power of 2.
    """
    if design == "sobol" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise InputError(
            f"{place}.count: a Sobol sequence is balanced only with a power of 2 of points, and {count} is not; "
            f"write {below} or {2 * below}"
        )
    try:
        from scipy.stats import qmc
    except ImportError:
        raise InputError(f'{place}.design: "{design}" needs SciPy; pip install "lightlag[study]"') from None
    kind = qmc.LatinHypercube if design == "latin-hypercube" else qmc.Sobol
    for shares in kind(len(ranges), rng=seed).random(count):
        yield tuple(one.value(float(share)) for one, share in zip(ranges, shares, strict=True))
