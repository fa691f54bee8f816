"""Several algorithms side by side: the same seeds for each, means with their 95 % intervals."""

from __future__ import annotations

from lightlag.comparison.comparison import Comparison, load_comparison
from lightlag.comparison.running import compare

__all__ = ["Comparison", "compare", "load_comparison"]
