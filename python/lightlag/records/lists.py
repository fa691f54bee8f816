"""Lists in a run's summary that stay in the engine: a large network has hundreds of thousands of flows and links."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from lightlag import _engine

__all__ = ["Entries", "column", "texts", "whole"]

_PART = 1000
"""Number of entries that one call reads."""


class Entries(Sequence[dict[str, Any]]):
    """A list of objects in a summary; each object is read when it is needed."""

    def __init__(self, run: _engine.Run, name: _engine._ListName) -> None:
        self._run, self._name = run, name
        self._count = run.count(name)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        numbers = range(self._count)[index]
        if isinstance(numbers, int):
            return self._read(numbers, 1)[0]
        if numbers.step == 1:
            return self._read(numbers.start, len(numbers))
        return [self[number] for number in numbers]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for part in self.parts():
            yield from part

    def parts(self) -> Iterator[list[dict[str, Any]]]:
        """Returns an iterator over all entries, in lists that fit into memory."""
        return (self._read(first, _PART) for first in range(0, self._count, _PART))

    def column(self, name: str) -> list[Any]:
        """Returns the values of a key, which must hold texts or numbers, from all entries."""
        return self._run.column(self._name, name)

    def _read(self, first: int, count: int) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = json.loads(self._run.entries(self._name, first, count))
        return entries


def column(entries: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Returns the values of a key from a list in a summary. None stands for a key that an entry does not have.

    Examples
    --------
    >>> column([{"name": "a->b", "goodput_bps": 1e6}, {"name": "b->a"}], "goodput_bps")
    [1000000.0, None]
    """
    return entries.column(name) if isinstance(entries, Entries) else [entry.get(name) for entry in entries]


def whole(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a summary with plain lists of all entries.

    Examples
    --------
    >>> whole({"scenario": {"name": "pair"}, "seed": 1})
    {'scenario': {'name': 'pair'}, 'seed': 1}
    """
    return {name: _whole(value) for name, value in summary.items()}


def _whole(value: Any) -> Any:
    if isinstance(value, Entries):
        return list(value)
    return whole(value) if isinstance(value, dict) else value


def texts(value: Any) -> Iterator[str]:
    """Yields a summary as JSON, in parts that fit into memory; joined, they equal the output of ``json.dumps``.

    Examples
    --------
    >>> "".join(texts({"scenario": {"name": "pair"}, "seed": 1, "flows": [{"name": "a->b"}]}))
    '{"scenario": {"name": "pair"}, "seed": 1, "flows": [{"name": "a->b"}]}'
    """
    if isinstance(value, Entries):
        yield "["
        for at, part in enumerate(value.parts()):
            yield ", " * (at > 0) + json.dumps(part)[1:-1]
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for at, (name, inner) in enumerate(value.items()):
            yield f"{', ' * (at > 0)}{json.dumps(name)}: "
            yield from texts(inner)
        yield "}"
    else:
        yield json.dumps(value)
