"""Reads the text of a scenario through the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError, scenario_error
from lightlag.text.terminal import printable

__all__ = ["checked", "parsed"]


def parsed(text: str, kind: str, sets: Sequence[tuple[str, str]] = (), source: str | None = None) -> _engine.Scenario:
    """A scenario from its text.

    Parameters
    ----------
    kind
        ``"json"`` or ``"toml"``.
    sets
        Changes: dotted paths and new values.
    source
        The file of the text, which errors name, and whose folder is that of the files that it names.

    Raises
    ------
    ScenarioError
        If it cannot be run; each line of the message is a place, a value and a remedy.
    """
    try:
        return _engine.parse(text, kind, sets, _folder(source))
    except ScenarioError as error:
        if source is None:
            raise
        raise scenario_error(error.errors, source) from None
    except UnicodeEncodeError as error:
        raise InputError(f"{printable(error.object):.60}: is not text in UTF-8; write it in UTF-8") from None


def checked(
    text: str, kind: str, sets: Sequence[tuple[str, str]] = (), source: str | None = None
) -> tuple[_engine.Scenario, list[tuple[str, str]]]:
    """As :func:`parsed`, with the warnings: each a place and its effect on the result."""
    try:
        read = _engine.parse(text, kind, sets, _folder(source))
        return read, read.warnings()
    except ScenarioError as error:
        raise scenario_error(error.errors, source or "scenario") from None


def _folder(source: str | None) -> str:
    """The folder to which paths of traces are relative: that of the file, or the current one."""
    return "" if source is None else str(Path(source).resolve().parent)
