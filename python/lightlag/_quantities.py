"""Quantities as text for people."""

from __future__ import annotations


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


def rate(bits_per_second: float) -> str:
    """A rate for people.

    Examples
    --------
    >>> rate(9_412_345)
    '9.412 Mbit/s'
    """
    value, prefix = scaled(bits_per_second)
    return f"{value:.4g} {prefix}bit/s"


def size(count: float) -> str:
    """A size for people.

    Examples
    --------
    >>> size(20_000_000)
    '20 MB'
    """
    value, prefix = scaled(count)
    return f"{value:.4g} {prefix}B"


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
    """A time in milliseconds; a dash where there is none.

    Examples
    --------
    >>> milliseconds(0.0252), milliseconds(None)
    ('25.2 ms', '–')
    """
    return "–" if seconds is None else f"{seconds * 1e3:.4g} ms"
