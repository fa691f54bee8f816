"""The keys in which two scenarios differ, by the dotted paths that ``--set`` takes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ABSENT", "Change", "changes"]


class _Absent:
    """The type of :data:`ABSENT`: no value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""The value of a key that a scenario does not have."""


@dataclass(frozen=True, slots=True)
class Change:
    """A key in which the input differs."""

    key: str
    """Dotted path in the first scenario; in the second one if only that has the key."""
    a: Any
    """The value in the first scenario, or :data:`ABSENT`."""
    b: Any
    """The value in the second scenario, or :data:`ABSENT`."""
    key_b: str | None = None
    """The path in the second scenario, if it is another one."""

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values; a side without the key is left out."""
        found = {"key": self.key} | ({} if self.key_b is None else {"key_b": self.key_b})
        return found | {side: value for side, value in (("a", self.a), ("b", self.b)) if value is not ABSENT}


def changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    """Returns the keys in which two scenarios differ, in the order of the first scenario.

    Entries of a list are matched by name; links without a name by their two nodes, and flows by their endpoints. An
    entry that only one list has counts as one key, and so does a list of plain values.

    Parameters
    ----------
    a, b
        Scenarios as plain values, with every default filled in, so that an equal default and value are equal.

    Examples
    --------
    >>> one = {"seed": 1, "links": [{"between": ["a", "b"], "rate": "1 Mbit/s"}]}
    >>> other = {"seed": 1, "links": [{"between": ["a", "b"], "rate": "2 Mbit/s", "loss": 0.1}]}
    >>> for change in changes(one, other):
    ...     print(change.key, change.a, change.b)
    links.0.rate 1 Mbit/s 2 Mbit/s
    links.0.loss ABSENT 0.1
    """
    return list(_tables(a, b, "", ""))


def _tables(a: Mapping[str, Any], b: Mapping[str, Any], at: str, at_b: str) -> Iterator[Change]:
    for key in dict.fromkeys([*a, *b]):
        yield from _values(a.get(key, ABSENT), b.get(key, ABSENT), f"{at}{key}", f"{at_b}{key}")


def _values(a: Any, b: Any, at: str, at_b: str) -> Iterator[Change]:
    one, other = ({} if value is ABSENT else value for value in (a, b))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        yield from _tables(one, other, f"{at}.", f"{at_b}.")
    elif _has_tables(a) and _has_tables(b):
        yield from _lists(a, b, at, at_b)
    elif not _equal(a, b):
        yield _change(a, b, at, at_b)


def _lists(a: Sequence[Any], b: Sequence[Any], at: str, at_b: str) -> Iterator[Change]:
    """Yields the entries of two lists of tables: pairs with the same name, then entries that only the second has."""
    names, names_b = _names(a), _names(b)
    if len(set(names)) < len(names) or len(set(names_b)) < len(names_b):
        names, names_b = list(range(len(a))), list(range(len(b)))
    places = {name: place for place, name in enumerate(names_b)}
    for place, name in enumerate(names):
        if name in places:
            yield from _values(a[place], b[places[name]], f"{at}.{place}", f"{at_b}.{places[name]}")
        else:
            yield _change(a[place], ABSENT, f"{at}.{place}", f"{at_b}.{place}")
    both = set(names) & set(names_b)
    for place, name in enumerate(names_b):
        if name not in both:
            yield _change(ABSENT, b[place], f"{at}.{place}", f"{at_b}.{place}")
    order, order_b = ([name for name in own if name in both] for own in (names, names_b))
    if order != order_b:
        yield Change(f"{at} (order)", [_shown(name) for name in order], [_shown(name) for name in order_b])


def _change(a: Any, b: Any, at: str, at_b: str) -> Change:
    if a is ABSENT:
        return Change(at_b, a, b)
    return Change(at, a, b, None if b is ABSENT or at == at_b else at_b)


def _has_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


_NAMING = (("name",), ("between",), ("from", "to"), ("node",), ("at",))
"""Keys that identify the entries of a list, in order of preference."""


def _names(entries: Sequence[Mapping[str, Any]]) -> list[Hashable]:
    """Returns a name for each entry, from the first of these keys that it has."""
    return [_name(entry, at) for at, entry in enumerate(entries)]


def _name(entry: Mapping[str, Any], at: int) -> Hashable:
    for keys in _NAMING:
        if all(key in entry for key in keys):
            parts = [part for key in keys for part in _parts(entry[key])]
            return tuple(map(str, parts))
    return at


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _shown(name: Hashable) -> str:
    return "->".join(name) if isinstance(name, tuple) else str(name)


def _equal(a: Any, b: Any) -> bool:
    """Returns true if two values are equal; true does not equal 1."""
    return type(a) is type(b) and a == b if isinstance(a, bool) or isinstance(b, bool) else bool(a == b)
