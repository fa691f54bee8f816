"""Writes the presets as plain scenarios to the file from which the command line reads them.

``make presets`` runs it; a test compares the file with the functions.
"""

from __future__ import annotations

import json

from lightlag.presets import PRESETS
from lightlag.scenario.presets import KEPT

__all__ = ["kept_anew"]

_MOST = 10_000
"""Longer scenarios are not kept: lists of thousands of flows."""


def kept_anew() -> str:
    """The contents that the file should have: a line for each preset."""
    lines = []
    for name in PRESETS:
        text = json.dumps(PRESETS[name]().to_dict())
        lines.append(f"{json.dumps(name)}: {text if len(text) <= _MOST else 'null'}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    KEPT.write_text(kept_anew(), "utf-8")
