"""The sources of a result: the engine's memory, or a results directory."""

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
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.input import (
    MAX_RESULTS_BYTES,
    check_regular,
    is_capture,
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
    "objects",
    "proxies",
    "legs",
    "tunnels",
    "interfaces",
    "paths",
    "positions",
]
"""The name of a table; ``make mirrors`` writes this type."""
CAPTURE_SUFFIX = ".pcapng"
LOGS = "quic.logs"
"""Name of the file with the logs of QUIC connections, among the captures."""


class Source(Protocol):
    """Interface to the data of a result."""

    @property
    def interrupted(self) -> bool: ...
    @property
    def directory(self) -> Path | None: ...
    def summary(self) -> dict[str, Any]: ...
    def parts(self) -> dict[str, Any]: ...
    def head(self) -> dict[str, Any]: ...
    def scenario(self) -> dict[str, Any]: ...
    def sky(self) -> _engine.Sky | None:
        """Returns the constellation, if the result is in the engine's memory; None for a directory."""

    def repeat(self) -> str | None: ...
    def origin(self) -> dict[str, Any]: ...
    def table(self, name: str) -> pl.DataFrame: ...
    def captures(self) -> list[Path]: ...
    def logs(self) -> Path | None:
        """Returns the file with the logs of QUIC connections; None if there is none."""

    def packed(self) -> dict[str, bytes]: ...
    def save(self, directory: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None: ...


class Live:
    """A run that is still in the engine's memory."""

    directory: Path | None = None

    def __init__(self, run: _engine.Run, captures: Path | None = None) -> None:
        """`captures` is the temporary directory of the run's captures; it is removed with this object."""
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
        # These keys always exist, and keep their order.
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
        return [path for path in self._written() if path.suffix == CAPTURE_SUFFIX]

    def logs(self) -> Path | None:
        return next((path for path in self._written() if path.name == LOGS), None)

    def _written(self) -> list[Path]:
        return [] if self._captures is None else [self._captures / name for name in self._run.captures]

    def packed(self) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="lightlag-") as work:
            self.save(Path(work) / "run", force=False, jobs=1, pages={})
            return Folder(Path(work) / "run").packed()

    def save(self, directory: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None:
        from lightlag.files.writing import MARK, add_entries, mentions, new_folder

        with new_folder(directory, force=force) as partial:
            self._run.write(partial, directory, jobs, self._captures)
            if not mentions(partial / MARK, b'"code"'):
                # Nothing in it has a digest: a large network is not read for that.
                self._repeat = _origin.repeat("run")
            add_entries(partial / MARK, {"origin": self.origin(), "repeat": self._repeat})
            _write(pages, partial)
        if failure := self._run.capture_failure:
            raise OSError(f"{directory}/captures/{failure}; captures end there, everything else is complete")


class Folder:
    """A results directory on disk."""

    def __init__(self, directory: Path) -> None:
        self.directory: Path | None = directory
        self._place = directory
        shown = printable(directory)
        try:
            head: Any = json.loads(read_results(directory / "run.json"))
        except FileNotFoundError:
            raise InputError(
                f'{shown}: is not a results directory (no run.json); write one with "lightlag run"'
            ) from None
        except NotADirectoryError:
            what = "a capture, which lightlag inspect describes" if is_capture(directory) else "a file"
            raise InputError(
                f"{shown}: is {what}; name a results directory that lightlag run, compare or study wrote"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"{printable(directory / 'run.json')}: cannot be read: {printable(_reason(error))}"
            ) from None
        if not isinstance(head, dict) or "result_hash" not in head:
            raise InputError(
                f"{shown}: does not hold a single run; name a directory that lightlag run wrote, or read a "
                "comparison or a study with lightlag.load"
            )
        for key, fits in _HEAD.items():
            if not fits(head.get(key)):
                raise InputError(
                    f"{printable(directory / 'run.json')}: {key}: {head.get(key)!r:.60} is not a value that a run "
                    'writes; repeat it with "lightlag run"'
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
        # A directory of an older version has none.
        return dict(self._head.get("origin") or {})

    def summary(self) -> dict[str, Any]:
        return self._summary

    @cached_property
    def _summary(self) -> dict[str, Any]:
        summary = {key: value for key, value in self._head.items() if key not in _ABOUT}
        for name, columns in _dictionary().items():
            # Networks without proxies or media have no files of them.
            is_there = name in ("flows", "links") or (self._place / f"{name}.parquet").exists()
            if is_there and _is_summed(columns):
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
        declarations = _dictionary()[name]
        for column, declared in declarations.items():
            problem = None
            if column not in table.columns:
                problem = None if declared["optional"] else "is missing"
            elif wanted := _misfit(declared, table[column].dtype, declarations):
                problem = f"has {table[column].dtype} instead of {wanted}"
            elif table[column].dtype.is_float() and not (table[column].is_finite() | table[column].is_null()).all():
                problem = "holds a value that is not a finite number"
            if problem:
                raise InputError(
                    f"{printable(path)}: was not written by a run of this version: {column} {problem}; repeat it with "
                    '"lightlag run"'
                )
        return table

    def captures(self) -> list[Path]:
        return sorted((self._place / "captures").glob(f"*{CAPTURE_SUFFIX}"))

    def logs(self) -> Path | None:
        path = self._place / "captures" / LOGS
        return path if path.is_file() else None

    def packed(self) -> dict[str, bytes]:
        """Returns the contents of the files that a run writes, by name."""
        names = ["run.json", *(f"{name}.parquet" for name in _dictionary())]
        files = [path for path in map(self._place.joinpath, names) if path.exists()] + self.captures()
        if (logs := self.logs()) is not None:
            files.append(logs)
        return {
            path.relative_to(self._place).as_posix(): read_bytes(path, MAX_RESULTS_BYTES, only_files=True)
            for path in files
        }

    def save(self, directory: Path, force: bool, jobs: int, pages: Mapping[str, Callable[[Path], str]]) -> None:
        from lightlag.files.writing import new_folder

        with new_folder(directory, force=force) as partial:
            shutil.copytree(self._place, partial, dirs_exist_ok=True)
            _write(pages, partial)


class Unpacked(Folder):
    """A run that was unpickled, in a temporary directory that is removed with this object."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        place = Path(tempfile.mkdtemp(prefix="lightlag-"))
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        for name, content in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_bytes(content)
        super().__init__(place)
        self.directory = None


def _write(pages: Mapping[str, Callable[[Path], str]], directory: Path) -> None:
    """Writes pages; each is made from the current state of the directory."""
    for name, make in pages.items():
        (directory / name).write_text(make(directory), encoding="utf-8")


def _reason(error: Exception) -> object:
    """Returns only the reason that the operating system gives for an error, without number and path."""
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
"""The keys of a run's `run.json`, each with a check of its value."""
_ABOUT = ("interrupted", "origin", "repeat", "files")
"""Keys of `run.json` that describe the directory, not the run."""


def _is_summed(columns: Mapping[str, Mapping[str, Any]]) -> bool:
    """Returns true if the rows of a table with these columns are objects of the summary."""
    return any(column["keys"] for column in columns.values())


def _misfit(declared: Mapping[str, Any], found: pl.DataType, columns: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Returns the type that a column should have; None if it has this type."""
    if declared["kind"] == "count":
        return None if found.is_unsigned_integer() else "UInt64"
    # Tables that grow during a run have few distinct strings.
    text = "String" if _is_summed(columns) else "Categorical"
    wanted = {"text": text, "number": "Float64", "flag": "Boolean"}[declared["kind"]]
    return None if str(found).startswith(wanted) else wanted


def columns_of(table: str) -> tuple[str, ...]:
    """Returns the columns of a table, in order."""
    return tuple(_dictionary()[table])


@cache
def _dictionary() -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the engine's declarations of columns, by table and by column."""
    tables = json.loads(_engine.dictionary())
    return {table["name"]: {column["name"]: column for column in table["columns"]} for table in tables}


def _folded(row: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns a row of a table as an object of the summary, with groups as nested objects.

    Columns that the summary omits are also omitted here.
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
