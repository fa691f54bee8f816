"""The outcome of a run: a summary, tables and figures."""

from __future__ import annotations

from lightlag.results.result import Result, load

__all__ = ["Result", "load"]
