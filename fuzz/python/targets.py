"""The targets in Python by name; run as a program it prints the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import importers
import readers

__all__ = ["TARGETS"]

TARGETS: Mapping[str, Callable[[bytes, Path], None]] = {**importers.TARGETS, **readers.TARGETS}
"""Functions of an input and of a directory for files. An exception is a finding."""

if __name__ == "__main__":
    print(*TARGETS)
