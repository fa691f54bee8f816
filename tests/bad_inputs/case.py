"""A bad input, and scenarios in which one thing is wrong."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conftest import pair


@dataclass(frozen=True)
class Case:
    """A mistake."""

    name: str
    arguments: tuple[str, ...] = ()
    """Arguments of the command line, or a call."""
    call: Callable[[], object] | None = None
    files: tuple[tuple[str, bytes | str], ...] = ()
    """Written before."""
    prepare: Callable[[], object] | None = None
    """Done before."""
    parts: tuple[str, ...] = ()
    """The message holds all of them: the place, the value."""
    usage: bool = False
    """Told by the parser of the command line."""
    mistake: str = ""
    """The kind of mistake and its place, where that is less than the name: cases of one mistake count once."""


def set_at(tree: Any, key: str, value: object) -> None:
    *path, end = [int(step) if step.isdigit() else step for step in key.split(".")]
    for step in path:
        tree = tree[step]
    tree[end] = value


def tree() -> dict[str, Any]:
    return pair().scenario("30 s", seed=3).to_dict()
