"""Reads the text of a scenario through the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError, scenario_error
from lightlag.text.terminal import printable

__all__ = ["checked", "parsed"]


def parsed(text: str, kind: str, sets: Sequence[tuple[str, str]] = (), source: str | None = None) -> _engine.Scenario:
    """Reads a scenario from its text.

    Parameters
    ----------
    kind
        ``"json"`` or ``"toml"``.
    sets
        Changes: dotted paths and new values.
    source
        The file that the text comes from. Errors name it, and relative paths start at its directory.

    Raises
    ------
    ScenarioError
        If it cannot be run; each line of the message has a key, a value and a fix.
    """
    try:
        return _engine.parse(text, kind, sets, _folder(source))
    except ScenarioError as error:
        if source is None:
            raise
        raise scenario_error(error.errors, source) from None
    except UnicodeEncodeError as error:
        raise InputError(f"{printable(error.object):.60}: is not valid UTF-8; write it in UTF-8") from None


def checked(
    text: str, kind: str, sets: Sequence[tuple[str, str]] = (), source: str | None = None
) -> tuple[_engine.Scenario, list[tuple[str, str]]]:
    """As :func:`parsed`, but also returns the warnings, each a position and its effect on the result."""
    try:
        read = _engine.parse(text, kind, sets, _folder(source))
        return read, read.warnings()
    except ScenarioError as error:
        raise scenario_error(error.errors, source or "scenario") from None


def _folder(source: str | None) -> str:
    """Returns the directory that paths of traces are relative to: the directory of the file, or the current one."""
    return "" if source is None else str(Path(source).resolve().parent)
