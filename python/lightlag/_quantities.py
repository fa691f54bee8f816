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
    >>> size(20_000_000), size(12, like=20_000_000)
    ('20 MB', '0.000012 MB')
    """
    return _with_unit(count, like, "B")


def _with_unit(value: float, like: float | None, unit: str) -> str:
    factor, prefix = factor_of(value if like is None else like)
    value /= factor
    text = f"{value:.4g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.8f}".rstrip("0")
    return f"{text} {prefix}{unit}"


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
    """A time in milliseconds; a dash where there is none.

    Examples
    --------
    >>> milliseconds(0.0252), milliseconds(None)
    ('25.2 ms', '–')
    """
    return "–" if seconds is None else f"{seconds * 1e3:.4g} ms"
