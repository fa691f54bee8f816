"""Sources of a result: the engine's memory, or a results folder."""

from __future__ import annotations

import io
import json
import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.input import (
    MAX_RESULTS_BYTES,
    check_regular,
    parquet_errors,
    parquet_reason,
    read_bytes,
    read_results,
)
from lightlag.records import origin as _origin
from lightlag.records.lists import Entries, whole
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

TableName = Literal[
    "flows",
    "links",
    "trace",
    "queue",
    "drops",
    "acks",
    "responses",
    "proxies",
    "legs",
    "interfaces",
    "paths",
    "positions",
]


class Source(Protocol):
    """The data behind a result."""

    @property
    def interrupted(self) -> bool: ...
    @property
    def folder(self) -> Path | None: ...
    def summary(self) -> dict[str, Any]: ...
    def parts(self) -> dict[str, Any]: ...
    def head(self) -> dict[str, Any]: ...
    def scenario(self) -> dict[str, Any]: ...
    def sky(self) -> _engine.Sky | None:
        """The sky in the engine's memory; a folder has none."""

    def repeat(self) -> str | None: ...
    def origin(self) -> dict[str, Any]: ...
    def table(self, name: str) -> pl.DataFrame: ...
    def captures(self) -> list[Path]: ...
    def packed(self) -> dict[str, bytes]: ...
    def save(self, folder: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None: ...


class Live:
    """A run that is still in the engine's memory."""

    folder: Path | None = None

    def __init__(self, run: _engine.Run, captures: Path | None = None) -> None:
        """`captures` is the temporary folder to which the run wrote its captures; it goes with this object."""
        self._run = run
        self._captures = captures
        if captures is not None:
            weakref.finalize(self, shutil.rmtree, captures, ignore_errors=True)

    @property
    def interrupted(self) -> bool:
        return self._run.interrupted

    @cached_property
    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = json.loads(self._run.head())
        scenario = parts["scenario"]
        listed = {"links": Entries(self._run, "scenario.links"), "flows": Entries(self._run, "scenario.flows")}
        scenario |= {name: entries for name, entries in listed.items() if len(entries)}
        parts["scenario"] = dict(sorted(scenario.items()))
        # These keys are there, and stay in their places.
        return parts | {"flows": Entries(self._run, "flows"), "links": Entries(self._run, "links")}

    def parts(self) -> dict[str, Any]:
        return self._parts

    def head(self) -> dict[str, Any]:
        return self._parts

    def summary(self) -> dict[str, Any]:
        return whole(self._parts | {"scenario": self._scenario})

    def scenario(self) -> dict[str, Any]:
        return self._scenario

    @cached_property
    def _scenario(self) -> dict[str, Any]:
        return whole(self._parts["scenario"])

    def sky(self) -> _engine.Sky | None:
        return self._run.sky()

    def repeat(self) -> str | None:
        return self._repeat

    @cached_property
    def _repeat(self) -> str | None:
        return _origin.repeat("run", self._scenario)

    def origin(self) -> dict[str, Any]:
        return _origin.origin()

    def table(self, name: str) -> pl.DataFrame:
        import polars as pl

        try:
            return pl.DataFrame(self._run.table(name))
        except KeyError as error:
            raise InputError(str(error.args[0])) from None

    def captures(self) -> list[Path]:
        return [] if self._captures is None else [self._captures / name for name in self._run.captures]

    def packed(self) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="lightlag-") as work:
            self.save(Path(work) / "run", force=False, jobs=1, pages={})
            return Folder(Path(work) / "run").packed()

    def save(self, folder: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None:
        from lightlag.files.writing import MARK, add_entries, mentions, new_folder

        with new_folder(folder, force=force) as partial:
            self._run.write(partial, folder, jobs, self._captures)
            if not mentions(partial / MARK, b'"code"'):
                # Nothing in it has a digest: a large network is not read for that.
                self._repeat = _origin.repeat("run")
            add_entries(partial / MARK, {"origin": self.origin(), "repeat": self._repeat})
            _write(pages, partial)
        if failure := self._run.capture_failure:
            raise OSError(f"{folder}/captures/{failure}; captures end there, everything else is complete")


class Folder:
    """A results folder on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder
        self._place = folder
        shown = printable(folder)
        try:
            head: Any = json.loads(read_results(folder / "run.json"))
        except FileNotFoundError:
            raise InputError(f'{shown}: is not a results folder (no run.json); write one with "lightlag run"') from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{printable(folder / 'run.json')}: cannot be read: {printable(_reason(error))}") from None
        if not isinstance(head, dict) or "result_hash" not in head:
            raise InputError(
                f"{shown}: does not hold a single run; name a folder that lightlag run wrote, or read a "
                "comparison or a study with lightlag.load"
            )
        for key, fits in _HEAD.items():
            if not fits(head.get(key)):
                raise InputError(
                    f"{printable(folder / 'run.json')}: {key}: {head.get(key)!r:.60} is not a value that a run writes; "
                    'repeat it with "lightlag run"'
                )
        self._head: dict[str, Any] = head

    @property
    def interrupted(self) -> bool:
        return bool(self._head["interrupted"])

    def parts(self) -> dict[str, Any]:
        return self._summary

    def head(self) -> dict[str, Any]:
        return self._head

    def scenario(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._head["scenario"])

    def sky(self) -> _engine.Sky | None:
        return None

    def repeat(self) -> str | None:
        return _origin.repeat("run", self.scenario())

    def origin(self) -> dict[str, Any]:
        # A folder of an older version has none.
        return dict(self._head.get("origin") or {})

    def summary(self) -> dict[str, Any]:
        return self._summary

    @cached_property
    def _summary(self) -> dict[str, Any]:
        summary = {key: value for key, value in self._head.items() if key not in _ABOUT}
        for name in _SUMMED:
            # Networks without proxies or media have no files of them.
            if name in ("flows", "links") or (self._place / f"{name}.parquet").exists():
                columns = _dictionary()[name]
                summary[name] = [_folded(row, columns) for row in self.table(name).to_dicts()]
        return summary

    def table(self, name: str) -> pl.DataFrame:
        import polars as pl

        if name not in _dictionary():
            raise InputError(f'no table "{printable(name)}"; there are {", ".join(_dictionary())}')
        path = self._place / f"{name}.parquet"
        try:
            check_regular(path)
            # polars takes no path that is not UTF-8.
            is_utf8 = not any("\ud800" <= letter <= "\udfff" for letter in str(path))
            table = pl.read_parquet(path if is_utf8 else io.BytesIO(path.read_bytes()))
        except parquet_errors() as error:
            raise InputError(f"{printable(path)}: cannot be read: {parquet_reason(error)}") from None
        for column, declared in _dictionary()[name].items():
            problem = None
            if column not in table.columns:
                problem = None if declared["optional"] else "is missing"
            elif wanted := _misfit(declared, table[column].dtype, name):
                problem = f"has {table[column].dtype} instead of {wanted}"
            elif table[column].dtype.is_float() and not (table[column].is_finite() | table[column].is_null()).all():
                problem = "holds something that is not a finite number"
            if problem:
                raise InputError(
                    f"{printable(path)}: was not written by a run of this version: {column} {problem}; repeat it with "
                    '"lightlag run"'
                )
        return table

    def captures(self) -> list[Path]:
        return sorted((self._place / "captures").glob("*.pcapng"))

    def packed(self) -> dict[str, bytes]:
        """The contents of its files by their names: those that a run writes."""
        names = ["run.json", *(f"{name}.parquet" for name in get_args(TableName))]
        files = [path for path in map(self._place.joinpath, names) if path.exists()] + self.captures()
        return {
            path.relative_to(self._place).as_posix(): read_bytes(path, MAX_RESULTS_BYTES, only_files=True)
            for path in files
        }

    def save(self, folder: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None:
        from lightlag.files.writing import new_folder

        with new_folder(folder, force=force) as partial:
            shutil.copytree(self._place, partial, dirs_exist_ok=True)
            _write(pages, partial)


class Unpacked(Folder):
    """A run from a pickle, in a temporary folder that goes with this object."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        place = Path(tempfile.mkdtemp(prefix="lightlag-"))
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        for name, content in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_bytes(content)
        super().__init__(place)
        self.folder = None


def _write(pages: Mapping[str, Callable[[Path], str]], folder: Path) -> None:
    """Writes pages, each made of the folder as it is then."""
    for name, make in pages.items():
        (folder / name).write_text(make(folder), encoding="utf-8")


def _reason(error: Exception) -> object:
    """The reason of the operating system alone, without number and path."""
    return getattr(error, "strerror", None) or error


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_HEAD: dict[str, Callable[[Any], bool]] = {
    "scenario": lambda value: (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("duration"), str)
        and isinstance(value.get("record"), dict)
    ),
    "seed": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "version": lambda value: isinstance(value, str),
    "simulated_s": _is_number,
    "wall_s": _is_number,
    "packet_hops": _is_number,
    "result_hash": lambda value: isinstance(value, str),
    "interrupted": lambda value: isinstance(value, bool),
    "origin": lambda value: value is None or isinstance(value, dict),
}
"""The keys of a run's `run.json`, each with a check."""
_ABOUT = ("interrupted", "origin", "repeat", "files")
"""Those that say something of the folder, not of the run."""


_SUMMED = ("flows", "links", "proxies", "legs", "interfaces")
"""The tables whose rows are objects of the summary."""


def _misfit(declared: Mapping[str, Any], found: pl.DataType, table: str) -> str | None:
    """Returns the type that a column should have, if the one that it has is another."""
    if declared["kind"] == "count":
        return None if found.is_unsigned_integer() else "UInt64"
    # Tables that grow while a run goes on have few different words.
    text = "String" if table in _SUMMED else "Categorical"
    wanted = {"text": text, "number": "Float64", "flag": "Boolean"}[declared["kind"]]
    return None if str(found).startswith(wanted) else wanted


def columns_of(table: str) -> tuple[str, ...]:
    """The columns of a table, in order."""
    return tuple(_dictionary()[table])


@cache
def _dictionary() -> dict[str, dict[str, dict[str, Any]]]:
    """What the engine declares of each column of each table, by their names."""
    tables = json.loads(_engine.dictionary())
    return {table["name"]: {column["name"]: column for column in table["columns"]} for table in tables}


def _folded(row: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A row of a table as an object of the summary, in which groups are objects of their own.

    What an object of the summary leaves out is left out here, too.
    """
    folded: dict[str, Any] = {}
    groups: dict[str, bool] = {}
    for name, value in row.items():
        column = columns[name]
        *outer, key = column["keys"]
        if outer:
            (group,) = outer
            folded.setdefault(group, {})[key] = value
            groups[group] = groups.get(group, not column["optional"]) or value is not None
        elif value is not None or not column["omitted"]:
            folded[key] = value
    return {key: value for key, value in folded.items() if groups.get(key, True)}
