"""Two results or two scenarios side by side."""

from __future__ import annotations

from lightlag.difference.difference import Difference, diff

__all__ = ["Difference", "diff"]
