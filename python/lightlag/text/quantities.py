"""Quantities as text for people: those of the engine, so that the web page has the same."""

from __future__ import annotations

from lightlag._engine import factor_of, milliseconds, number, rate, scaled, share, size, window

__all__ = ["factor_of", "milliseconds", "number", "rate", "scaled", "share", "size", "window"]
