"""Runs scenarios and returns their results."""

from __future__ import annotations

from lightlag.running.single import run
from lightlag.running.streaming import Batch, Stream, stream

__all__ = ["Batch", "Stream", "run", "stream"]
