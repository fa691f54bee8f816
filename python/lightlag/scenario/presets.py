"""The presets as plain scenarios in a file: importing the classes that the preset functions use would take 40 ms.

``make presets`` writes the file again; a test compares it with the functions.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["KEPT", "names", "scenario"]

KEPT = Path(__file__).with_name("presets.json")


def names() -> list[str]:
    """Returns the names of all presets."""
    return list(_kept())


def scenario(name: str) -> dict[str, Any]:
    """Returns a preset as the plain values of a scenario file."""
    kept = _kept()[name]
    if kept is not None:
        return kept
    from lightlag.presets import PRESETS

    return PRESETS[name]().to_dict()


@cache
def _kept() -> dict[str, dict[str, Any] | None]:
    found: dict[str, dict[str, Any] | None] = json.loads(KEPT.read_text("utf-8"))
    return found
