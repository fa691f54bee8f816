"""Writes the presets as plain scenarios to the file that the command line reads.

``make presets`` runs it; a test compares the file with the functions.
"""

from __future__ import annotations

import json

from lightlag.presets import PRESETS
from lightlag.scenario.presets import KEPT

__all__ = ["kept_anew"]

_MOST = 10_000
"""Maximum length of a stored scenario in characters. Longer ones, with lists of thousands of flows, are not stored."""


def kept_anew() -> str:
    """Returns the contents that the file should have: a line for each preset."""
    lines = []
    for name in PRESETS:
        text = json.dumps(PRESETS[name]().to_dict())
        lines.append(f"{json.dumps(name)}: {text if len(text) <= _MOST else 'null'}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    KEPT.write_text(kept_anew(), "utf-8")
