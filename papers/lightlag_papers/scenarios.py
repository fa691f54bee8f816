"""The scenarios of the papers."""

from __future__ import annotations

from pathlib import Path


def scenario(name: str) -> Path:
    """Returns the path of a scenario file; the name has the paper's directory and the file, such as scps_ns3/geo."""
    return Path(__file__).parent / f"{name}.toml"
