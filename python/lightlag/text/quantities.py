"""Quantities as text for people."""

from __future__ import annotations

import math

_SMALLEST = 1e-9
"""Magnitude below which a number keeps its exponent."""
_LONG_S = 10.0
"""Times from this length on are in seconds, shorter ones in milliseconds."""
_UNLIMITED_SEGMENTS = 1e9
"""Windows from this size on do not limit a sender: that of ``congestion = "none"``."""


def number(value: float, digits: int = 4) -> str:
    """Returns a number with this many significant digits and no exponent; large ones as whole numbers.

    Examples
    --------
    >>> number(1170.0), number(24_990.4), number(0.00003178), number(0.5)
    ('1170', '24,990', '0.00003178', '0.5')
    """
    text = f"{value:.{digits}g}"
    if "e" not in text or not math.isfinite(value) or abs(value) < _SMALLEST:
        return text
    if abs(value) >= 1:
        return f"{value:,.0f}"
    mantissa, exponent = text.split("e")
    return f"{value:.{len(mantissa.lstrip('-').replace('.', '')) - 1 - int(exponent)}f}"


def window(segments: float) -> str:
    """Returns a mean window in segments; "unlimited" for one that does not limit the sender.

    Examples
    --------
    >>> window(31.25), window(2.0**31)
    ('31.25', 'unlimited')
    """
    return "unlimited" if segments >= _UNLIMITED_SEGMENTS else number(segments)


def scaled(value: float, prefixes: str = " kMGT") -> tuple[float, str]:
    """A number below 1000 and its decimal prefix.

    Examples
    --------
    >>> scaled(34_368_000.0)
    (34.368, 'M')
    """
    at = 0
    while abs(value) >= 999.95 and at + 1 < len(prefixes):
        value, at = value / 1000, at + 1
    return value, prefixes[at].strip()


def rate(bits_per_second: float, like: float | None = None) -> str:
    """A rate for people.

    Parameters
    ----------
    like
        The rate whose unit it takes, such as the largest of a column; by default its own.

    Examples
    --------
    >>> rate(9_412_345), rate(355_000, like=9_412_345)
    ('9.412 Mbit/s', '0.355 Mbit/s')
    """
    return _with_unit(bits_per_second, like, "bit/s")


def size(count: float, like: float | None = None) -> str:
    """A size for people; see :func:`rate`.

    Examples
    --------
    >>> size(20_000_000), size(120_000, like=20_000_000), size(12, like=20_000_000)
    ('20 MB', '0.12 MB', '12 B')
    """
    return _with_unit(count, like, "B")


def _with_unit(value: float, like: float | None, unit: str) -> str:
    factor, prefix = factor_of(value if like is None else like)
    if 0 < abs(value) < factor / 1000:
        factor, prefix = factor_of(value)
    return f"{number(value / factor)} {prefix}{unit}"


def factor_of(value: float) -> tuple[float, str]:
    """The power of 1000 of the prefix that a value takes, and the prefix.

    Examples
    --------
    >>> factor_of(34_368_000.0), factor_of(0.0)
    ((1000000.0, 'M'), (1.0, ''))
    """
    _, prefix = scaled(value)
    return 1000.0 ** (" kMGT".index(prefix or " ")), prefix


def share(part: int, whole: int) -> str:
    """A share in percent, with two digits for small ones.

    Examples
    --------
    >>> share(3, 2000), share(0, 5)
    ('0.15%', '0%')
    """
    if part == 0 or whole == 0:
        return "0%"
    return f"{100 * part / whole:.2g}%"


def milliseconds(seconds: float | None) -> str:
    """Returns a time in milliseconds, from 10 s on in seconds; a dash where there is none.

    Examples
    --------
    >>> milliseconds(0.0252), milliseconds(1497.2), milliseconds(None)
    ('25.2 ms', '1497 s', '–')
    """
    if seconds is None:
        return "–"
    return f"{number(seconds * 1e3)} ms" if abs(seconds) < _LONG_S else f"{number(seconds)} s"
