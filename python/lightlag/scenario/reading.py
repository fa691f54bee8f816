"""Reads a scenario in any form, through the engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lightlag import _engine
from lightlag.errors import InputError, scenario_error
from lightlag.files.input import binary_reason, read_text
from lightlag.files.writing import MARK
from lightlag.scenario import parsing
from lightlag.scenario import presets as _presets
from lightlag.text.terminal import meant, printable

if TYPE_CHECKING:
    from lightlag.scenario.builder import Network
    from lightlag.scenario.document import Scenario

ScenarioLike: TypeAlias = "Scenario | Network | Mapping[str, Any] | str | os.PathLike[str]"
"""Any description of a scenario.

A string is the path of a TOML or JSON file, the name of a preset, or the results directory of a run, which stands for
its scenario.
"""
Sets: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""Changes to a scenario: dotted paths and new values."""


def load_scenario(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> str:
    """Reads and checks a scenario; returns its complete form as JSON.

    Raises the same errors as :func:`read_scenario`.
    """
    return read_scenario(scenario, sets).json()


def read_scenario(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> _engine.Scenario:
    """Reads and checks a scenario.

    Raises
    ------
    ScenarioError
        If it cannot be run; each line of the message has a key, a value and a fix.
    """
    text, kind, source = _source(scenario)
    return parsing.parsed(text, kind, sets, source)


def check(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> tuple[str | None, list[tuple[str, str]]]:
    """Checks a scenario; returns the file that it came from, if any, and its warnings.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run; the message has all errors.
    """
    source, _, warnings = checked(scenario, sets)
    return source, warnings


def checked(
    scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()
) -> tuple[str | None, _engine.Scenario, list[tuple[str, str]]]:
    """As :func:`check`, but also returns, before the warnings, the scenario as the engine has read it."""
    text, kind, source = _source(scenario)
    return source, *parsing.checked(text, kind, sets, source)


def congestion_names() -> list[str]:
    """Returns the names of all congestion-control algorithms."""
    return [entry["name"] for entry in json.loads(_engine.catalog())["congestion"]]


def _source(scenario: ScenarioLike) -> tuple[str, str, str | None]:
    """Returns the text, the format and the file of a scenario."""
    if not isinstance(scenario, (str, os.PathLike)):
        return _text_of(scenario), "json", None
    path = Path(scenario)
    if is_preset(scenario):
        return json.dumps(_presets.scenario(str(scenario))), "json", str(scenario)
    if is_results(scenario):
        from lightlag.records.source import Folder

        return json.dumps(Folder(path).scenario()), "json", str(path)
    return _read(path), "json" if path.suffix == ".json" else "toml", str(path)


def _text_of(scenario: Scenario | Network | Mapping[str, Any]) -> str:
    """Converts a scenario that is a Python object to JSON."""
    from lightlag.scenario.builder import Network
    from lightlag.scenario.document import Scenario
    from lightlag.scenario.plain import plain

    if isinstance(scenario, Network):
        scenario = scenario.scenario()
    if isinstance(scenario, Scenario):
        return json.dumps(scenario.to_dict())
    if isinstance(scenario, Mapping):
        return json.dumps(plain(scenario))
    raise InputError(
        f"{printable(repr(scenario)):.60} is not a scenario; give a Network, a Scenario, a mapping, the path of a "
        "file or the name of a preset"
    )


def is_results(scenario: str | os.PathLike[str]) -> bool:
    """Returns true if a scenario is given as a results directory.

    A name that is also a preset stands for the preset.
    """
    return not is_preset(scenario) and _exists(Path(scenario) / MARK)


def inputs(source: str | os.PathLike[str], scenario: _engine.Scenario) -> list[Path]:
    """Returns the files that a scenario comes from: its own file or results directory, and the files that it names."""
    own = [] if is_preset(source) else [Path(source)]
    return [*own, *_files_of(sorted(scenario.texts()))]


def _files_of(texts: Iterable[str]) -> Iterator[Path]:
    for text in texts:
        if "/" in text or "." in text:
            # A class in a file is named FILE:CLASS.
            yield from (Path(name) for name in (text, text.rpartition(":")[0]) if name and _exists(Path(name)))


def is_preset(scenario: str | os.PathLike[str]) -> bool:
    """Returns true if this is the name of a preset, and not of a file."""
    if not isinstance(scenario, str) or (_exists(Path(scenario)) and not Path(scenario).is_dir()):
        return False
    return scenario in _presets.names()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # A name that is too long, or has a zero in it.
        return False


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        reason = binary_reason(path, error)
    except FileNotFoundError:
        reason = f'no such file; {_guess(path)}name a scenario file, or one of "lightlag list scenarios"'
    except IsADirectoryError:
        reason = "is a directory; name a scenario file in it, or the results directory of a run"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValueError as error:
        reason = f"cannot be read: {error}; name a scenario file"
    raise scenario_error([("", reason)], str(path))


def _guess(path: Path) -> str:
    """Returns the start of a hint with the preset or nearby file that was most likely meant."""
    presets = _presets.names()
    stem = path.name.removesuffix(".toml").removesuffix(".json")
    if stem != path.name and stem in presets:
        return f'"{stem}" without {path.suffix} is the preset; '
    try:
        beside = [one.name for one in sorted(path.parent.iterdir())[:1000] if one.suffix in (".toml", ".json")]
    except OSError:
        beside = []
    return meant(path.name, beside) or meant(stem, presets) or meant(f"{stem}.toml", beside)
