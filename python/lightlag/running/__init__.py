"""From a scenario to results."""

from __future__ import annotations

from lightlag.running.running import compare, run
from lightlag.running.streaming import Batch, Stream, stream

__all__ = ["Batch", "Stream", "compare", "run", "stream"]
