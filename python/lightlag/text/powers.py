"""Numbers of axes and titles: all plain, or all powers of ten."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

__all__ = ["in_powers", "power_of_ten", "tick_texts"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL, _LARGE = 1e-3, 1e6
"""Plain numbers below or from these values on are written with powers of ten, and so are all values of their axis."""
_FEW_HUNDREDTHS = 1e-2
"""Numbers below this value are also written with powers of ten if the values of the axis span two decades."""


def tick_texts(texts: Sequence[str]) -> list[str]:
    """Returns the values of an axis as it writes them.

    All plain numbers are powers of ten if one of them is small or large. A space separates a unit.

    Examples
    --------
    >>> tick_texts(["0", "1e-05", "0.0003", "0.001"]), tick_texts(["0.01", "0.1"]), tick_texts(["5ms", "10 ms"])
    (['0', '10⁻⁵', '3×10⁻⁴', '10⁻³'], ['0.01', '0.1'], ['5 ms', '10 ms'])
    """
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return [re.sub(r"^([-+]?[\d.]+)([a-zA-Zµ]\S*)$", r"\1 \2", text) for text in texts]
    if not in_powers(values):
        return list(texts)
    return [power_of_ten(value) for value in values]


def in_powers(values: Iterable[float]) -> bool:
    """Returns true if an axis with these values has powers of ten.

    Examples
    --------
    >>> in_powers([1e-3, 1e-2, 0.1]), in_powers([0.0, 0.02, 0.1]), in_powers([1.0, 1e7])
    (True, False, True)
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    if not sizes:
        return False
    least, most = min(sizes), max(sizes)
    return least < _SMALL or most >= _LARGE or (least < _FEW_HUNDREDTHS and most / least >= 100)


def power_of_ten(value: float) -> str:
    """Returns a number as a power of ten with its factor, such as 3×10⁻⁴."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    mantissa, exponent = f"{value:.3e}".split("e")
    factor = mantissa.rstrip("0").rstrip(".")
    if exponent in ("+00", "-00"):
        return factor
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    return {"1": power, "-1": f"-{power}"}.get(factor, f"{factor}×{power}")
