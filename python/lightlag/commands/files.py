"""Scenario files and the files that they name, written to one directory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lightlag.errors import InputError
from lightlag.text.terminal import printable
from lightlag.words.schema import DIRECTIVE, SCHEMA


def put(files: Mapping[Path, str], *, force: bool, inputs: Sequence[Path] = ()) -> list[Path]:
    """Writes scenarios, the files that they name, and the schema if it does not exist yet; returns the paths.

    Parameters
    ----------
    inputs
        Files that the same command reads, which are never replaced.

    Raises
    ------
    FileExistsError
        If a file exists that may not be replaced.
    InputError
        If several files are to go to one pipe or device.
    """
    from lightlag import _engine
    from lightlag.files.output import check_file, is_stream, new_file, write_text

    for path in files:
        if is_stream(path) and len(files) > 1:
            names = ", ".join(other.name for other in files if other != path)
            raise InputError(f"{printable(path)}: cannot hold the scenario and {names}; name a file with --out")
        if os.path.lexists(path) and not is_stream(path) and not force:
            raise FileExistsError(f"{printable(path)}: exists already; replace it with --force, or name another --out")
        if path.parent.is_dir():
            check_file(path, force=True, inputs=inputs)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as partial:
            named = f"{DIRECTIVE}\n{text}" if path.suffix == ".toml" else text
            partial.write_text(named, encoding="utf-8", newline="\n")
    written = list(files)
    for folder in {path.parent for path in files if path.suffix == ".toml" and not is_stream(path)}:
        schema = folder / SCHEMA
        if not os.path.lexists(schema):
            write_text(schema, _engine.schema() + "\n")
            written.append(schema)
    return written
