"""Mutations of text: numbers become extreme ones, and lines and fields are left out, repeated or exchanged."""

from __future__ import annotations

import random
import re

__all__ = ["mutated"]

_NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBERS = (
    *(b"0", b"-1", b"1", b"00", b"1e-320", b"1e308", b"1e999", b"-1e308", b"nan", b"-nan", b"inf", b"-inf"),
    *(b"65535", b"65536", b"4294967295", b"4294967296", b"18446744073709551615", b"18446744073709551616"),
    *(b"9" * 30, b"9" * 400, b"1728001", b"1e15", b"1.000001e15", b"1700000000000", b"0.1", b"1,5", b"", b"x"),
)
_SEPARATORS = (b"\n", b",", b" ", b":", b"\t", b";", b'"')


def mutated(data: bytes, max_size: int, seed: int) -> bytes:
    """Returns an input with one to three changes of its text."""
    source = random.Random(seed)
    for _ in range(source.randint(1, 3)):
        data = (_other_number if source.random() < 0.6 else _other_parts)(data, source)
    return data[:max_size]


def _other_number(data: bytes, source: random.Random) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    one = source.choice(numbers)
    return data[: one.start()] + source.choice(_NUMBERS) + data[one.end() :]


def _other_parts(data: bytes, source: random.Random) -> bytes:
    """Changes the order of the parts between separators."""
    separator = source.choice(_SEPARATORS)
    parts = data.split(separator)
    at, other = source.randrange(len(parts)), source.randrange(len(parts))
    kind = source.randrange(4)
    if kind == 0:
        del parts[at]
    elif kind == 1:
        parts.insert(at, parts[other])
    elif kind == 2:
        parts[at], parts[other] = parts[other], parts[at]
    else:
        parts[at:other] = []
    return separator.join(parts)
