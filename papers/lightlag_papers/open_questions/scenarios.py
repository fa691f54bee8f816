"""The scenario files of these questions, which `lightlag run` takes as well."""

from __future__ import annotations

from pathlib import Path


def scenario(name: str) -> Path:
    """The file of a scenario: geo, leo, pair or round_trips."""
    return Path(__file__).with_name(f"{name}.toml")
