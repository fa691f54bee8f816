"""Quantities as text for display, formatted by the engine as in the studio."""

from __future__ import annotations

from lightlag._engine import factor_of, milliseconds, number, rate, scaled, share, size, window

__all__ = ["factor_of", "milliseconds", "number", "rate", "scaled", "share", "size", "window"]
