"""The presets as plain scenarios, kept in a file: the functions that give them import 40 ms of classes.

``python -m lightlag.scenario.presets`` writes the file again; a test compares it with the functions.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["KEPT", "kept_anew", "names", "scenario"]

KEPT = Path(__file__).with_name("presets.json")
_MOST = 10_000
"""Longer scenarios are not kept: lists of thousands of flows."""


def names() -> list[str]:
    """The names of all presets."""
    return list(_kept())


def scenario(name: str) -> dict[str, Any]:
    """A preset with the values of a scenario file."""
    kept = _kept()[name]
    return _made(name) if kept is None else kept


def kept_anew() -> str:
    """The contents that the file should have: a line for each preset."""
    from lightlag.presets import PRESETS

    lines = []
    for name in PRESETS:
        text = json.dumps(_made(name))
        lines.append(f"{json.dumps(name)}: {text if len(text) <= _MOST else 'null'}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _made(name: str) -> dict[str, Any]:
    from lightlag.presets import PRESETS

    return PRESETS[name]().to_dict()


@cache
def _kept() -> dict[str, dict[str, Any] | None]:
    found: dict[str, dict[str, Any] | None] = json.loads(KEPT.read_text("utf-8"))
    return found


if __name__ == "__main__":
    KEPT.write_text(kept_anew(), "utf-8")
