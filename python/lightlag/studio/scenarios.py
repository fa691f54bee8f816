"""Scenarios from the studio: plain values that name no code, and files only from the given directories.

A scenario may name an algorithm in a file, which is code. The engine opens such files while it reads a scenario, so a
text is inspected before the engine receives it. The engine then reads the inspected values, not the text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightlag.errors import InputError, ScenarioError, scenario_error
from lightlag.files.input import read_bytes, read_results, read_text
from lightlag.studio.places import Places
from lightlag.text.terminal import printable

__all__ = [
    "Sent",
    "check_competitors",
    "check_door",
    "check_sets",
    "check_texts",
    "files_of",
    "opened",
    "parsed",
    "without_code",
]

CODE = frozenset({"python", "plugin"})
"""Keys that name an algorithm in a file."""
FILES = CODE | {"file", "trace"}
"""Keys that name a file: an algorithm or data."""
SIDES = frozenset({"forward", "backward"})
"""Keys of a trace that differs by direction."""
MOST_SENT = 64 << 20
"""Maximum size of the files that are sent with a scenario, in bytes."""
_WORDS = re.compile(r"[^\w-]+")
_MAY_BE_CODE = re.compile(r"python|plugin|\\[xuU]")
"""Matches a key that names code, or an escape that could hide one, in a text that cannot be parsed."""


def parsed(text: str, kind: str = "toml") -> dict[str, Any]:
    """Returns the plain values of a text in TOML or JSON.

    Raises
    ------
    ScenarioError
        If the text cannot be parsed.
    """
    try:
        tree = tomllib.loads(text) if kind == "toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nests too deeply" if isinstance(error, RecursionError) else printable(error)
        raise scenario_error([("", f"is not valid {kind.upper()}: {reason}")], "scenario") from None
    if not isinstance(tree, dict):
        raise scenario_error([("", f"is not a table; a scenario in {kind.upper()} has keys")], "scenario")
    return tree


def without_code(tree: object, source: str = "scenario") -> None:
    """Rejects a scenario that names algorithms in files.

    Raises
    ------
    ScenarioError
        If the scenario names one; the error lists every occurrence.
    """
    errors = [
        (path, f"{printable(value)!r:.60} is code, which the studio never runs; use lightlag run or compare for it")
        for path, key, value in _entries(tree)
        if key in CODE
    ]
    if errors:
        raise scenario_error(errors, source)


def check_sets(sets: Mapping[str, Any] | Sequence[tuple[str, Any]], what: str = "sets") -> None:
    """Rejects changes that name code or files: these belong in the text of the scenario, which is inspected.

    Raises
    ------
    InputError
        If a change names code or a file.
    """
    pairs = sets.items() if isinstance(sets, Mapping) else sets
    for key, value in pairs:
        words = [word for word in _WORDS.split(str(key)) if word]
        values = value if isinstance(value, (list, tuple)) else [value]
        named = {*words, *(name for one in values for name in _named_files(one))}
        # record.trace selects the recorded data.
        if found := sorted(named & (CODE if words[:1] == ["record"] else FILES)):
            raise InputError(
                f"{what}: {printable(key)}: {found[0]} names a file; write it into the text of the scenario"
            )


def check_texts(tree: object, what: str) -> None:
    """Rejects a table in which a key or a string names code or a file, at any depth.

    Raises
    ------
    InputError
        If a key or a string does.
    """
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            check_sets([(key, "")], what)
            check_texts(value, f"{what}: {key}")
    elif isinstance(tree, (list, tuple)):
        for value in tree:
            check_texts(value, what)
    elif isinstance(tree, str):
        # A key of a scenario, or a value as TOML.
        check_sets([(tree, tree)], what)


def check_competitors(congestion: Any) -> None:
    """Rejects candidates that are code.

    Raises
    ------
    InputError
        If a candidate is code, or is not valid.
    """
    from lightlag.outcomes.variables import competitors

    if congestion is None:
        return
    for one in competitors(congestion):
        for choice in one.choices:
            if _named_files(choice) & CODE:
                shown = printable(one.label)
                raise InputError(
                    f"congestion: {shown}: is code, which the studio never runs; use lightlag compare for it"
                )


def check_door(request: Mapping[str, Any]) -> None:
    """Rejects a request to the API that names code, after :func:`check_types`. A text with errors passes, so that the
    API can report them.

    Raises
    ------
    InputError, ScenarioError
        If the request names code.
    """
    if isinstance(text := request.get("toml"), str):
        try:
            tree = tomllib.loads(text)
        except (ValueError, RecursionError):
            # The engine may read what tomllib does not.
            if _MAY_BE_CODE.search(text):
                raise InputError("toml: has errors, and may name code, which the studio never runs") from None
        else:
            without_code(tree)
    without_code(request.get("scenario"))
    for key, value in request.get("sets", ()):
        if set(_WORDS.split(key)) & CODE or _named_files(value) & CODE:
            raise InputError(f"sets: {printable(key)}: is code, which the studio never runs")
    if request.get("op") == "edit":
        named = set(_WORDS.split(str(request.get("path")))) | {key for _, key, _ in _entries(request.get("value"))}
        if named & CODE:
            raise InputError("path: is code, which the studio never runs")


class Sent:
    """The files of a scenario: files sent with it, and files in the given directories.

    Parameters
    ----------
    files
        Names and contents, in base 64.
    base
        Directory that other names are relative to; None if only files sent with the scenario may be named.
    """

    def __init__(self, places: Places, files: Mapping[str, str], base: Path | None) -> None:
        self._places, self._base = places, base
        self._files = {name: _decoded(name, content) for name, content in files.items()}
        if sum(map(len, self._files.values())) > MOST_SENT:
            raise InputError(f"files: have more than {MOST_SENT:,} bytes; give their directory with --folder instead")

    def place(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Returns the scenario with absolute paths. Files sent with it are stored in the results directory.

        Raises
        ------
        ScenarioError
            If a path is outside of the given directories, or is not a file.
        """
        errors = []
        for holder, key, path in _files(tree):
            try:
                holder[key] = str(self._path(holder[key]))
            except InputError as error:
                errors.append((path, str(error)))
        if errors:
            raise scenario_error(errors, "scenario")
        return tree

    def _path(self, name: str) -> Path:
        shown = f"{printable(name):.80}"
        if name in self._files:
            return _kept(self._places, name, self._files[name])
        if self._base is None and not Path(name).is_absolute():
            raise InputError(f"{shown}: did not come with the scenario")
        found = self._places.inside(Path(name) if self._base is None else self._base / name, shown)
        if not found.is_file():
            raise InputError(f"{shown}: is not a file")
        return found


def opened(file: str, places: Places) -> dict[str, Any]:
    """Returns a scenario with the files that it names, for the page: its text, or the reason why it cannot be read.

    Parameters
    ----------
    file
        A file, the directory of a run, or the name of a preset.
    """
    from lightlag import presets

    path = Path(file)
    about: dict[str, Any] = {"name": path.name, "text": "", "format": "toml", "files": {}, "error": None}
    try:
        if not path.exists() and file in presets.PRESETS:
            return about | {"text": presets.PRESETS[file]().to_toml()}
        if not path.exists():
            raise InputError(f'{printable(file)}: no such file; name a file, or one of "lightlag list scenarios"')
        real = places.inside(path, printable(file))
        is_run = real.is_dir()
        text = _of_run(real, places) if is_run else read_text(real, "utf-8-sig")
        about["text"] = text
        about["format"] = kind = "json" if is_run or real.suffix == ".json" else "toml"
        tree = parsed(text, kind)
        without_code(tree, printable(file))
        about["files"] = files_of(tree, real.parent, places)
    except UnicodeDecodeError as error:
        about["error"] = f"{printable(file)}: byte {error.start} is not UTF-8; save the file as UTF-8 text"
    except (InputError, ScenarioError) as error:
        about["error"] = str(error)
    except OSError as error:
        about["error"] = f"{printable(file)}: cannot be read: {error.strerror or error}"
    return about


def _of_run(folder: Path, places: Places) -> str:
    """Returns the complete scenario of a run, in JSON.

    Raises
    ------
    InputError
        If the directory holds no run.
    """
    try:
        head = json.loads(read_results(places.inside(folder / "run.json", printable(folder.name))))
        return json.dumps(head["scenario"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{printable(folder.name)}: holds no run, so it has no scenario") from None


def files_of(tree: dict[str, Any], base: Path, places: Places) -> dict[str, str]:
    """Returns the files that a scenario names, by their names in it, in base 64.

    Raises
    ------
    InputError
        If one is outside of the given directories or is not a file, or if their total size is too large.
    """
    found: dict[str, str] = {}
    left = MOST_SENT
    for holder, key, _ in _files(tree):
        name = holder[key]
        path = places.inside(base / name, printable(name))
        if not path.is_file():
            raise InputError(f"{printable(name)}: is not a file")
        left -= path.stat().st_size
        if left < 0:
            raise InputError(f"{printable(name)}: the files of the scenario have more than {MOST_SENT:,} bytes")
        found[name] = base64.b64encode(read_bytes(path, only_files=True)).decode()
    return found


def _entries(value: object, path: str = "") -> Iterator[tuple[str, str, object]]:
    """Yields every key with its path and its value, outer keys first."""
    waiting = [(value, path)]
    while waiting:
        at, place = waiting.pop()
        if isinstance(at, Mapping):
            for key, inner in at.items():
                inside = f"{place}.{key}" if place else str(key)
                yield inside, str(key), inner
                waiting.append((inner, inside))
        elif isinstance(at, (list, tuple)):
            waiting += [(inner, f"{place}[{number}]") for number, inner in enumerate(at)]


def _named_files(value: object) -> set[str]:
    """Returns the keys of a changed value that name code or files; a text is parsed as TOML, as in the engine."""
    if isinstance(value, str):
        try:
            value = tomllib.loads(f"value = {value}")
        except (ValueError, RecursionError):
            # Without a brace it is a text in every reading.
            if "{" in value:
                raise InputError(f"{printable(value)!r:.60} is not a TOML value; write one such as 1e-4") from None
            return set()
    return {key for _, key, _ in _entries(value)} & FILES


def _files(tree: dict[str, Any]) -> Iterator[tuple[Any, str, str]]:
    """Yields the table, the key and the path of every string that names a file."""
    waiting: list[tuple[Any, str, bool]] = [(tree, "", False)]
    while waiting:
        at, place, is_trace = waiting.pop()
        if isinstance(at, list):
            waiting += [(inner, f"{place}[{number}]", False) for number, inner in enumerate(at)]
        elif isinstance(at, dict):
            for key, inner in at.items():
                inside = f"{place}.{key}" if place else str(key)
                # record.trace selects the recorded data.
                is_one = key == "trace" and place != "record"
                if isinstance(inner, str) and (is_one or key == "file" or (is_trace and key in SIDES)):
                    yield at, key, inside
                else:
                    waiting.append((inner, inside, is_one or (is_trace and key in SIDES)))


def _decoded(name: object, content: object) -> bytes:
    try:
        return base64.b64decode(str(content), validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"files: {printable(name)}: is not valid base64") from None


def _kept(places: Places, name: str, content: bytes) -> Path:
    """Returns a file with this content in the results directory.

    It is named by its digest, so that results computed with it can be repeated.

    Raises
    ------
    InputError
        If a link leads out of the directories.
    """
    from lightlag.files.output import new_file

    folder = places.results / "files"
    if folder.is_symlink():
        folder = places.inside(folder, "files")
    stem = re.sub(r"[^\w.-]+", "-", Path(name).name).lstrip(".-")[-60:]
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}-{stem}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(path) as partial:
            partial.write_bytes(content)
    return path
