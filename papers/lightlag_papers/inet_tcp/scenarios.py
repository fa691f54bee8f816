"""The scenario files of this paper, which `lightlag run` takes as well."""

from __future__ import annotations

from pathlib import Path


def scenario(name: str) -> Path:
    """The file of a scenario: bit_errors or slow_reader."""
    return Path(__file__).with_name(f"{name}.toml")
