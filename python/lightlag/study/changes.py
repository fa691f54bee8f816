"""Additions to a study file that preserve its comments and its layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from lightlag.errors import InputError, ScenarioError
from lightlag.files.input import read_text
from lightlag.outcomes.variables import split, text_of
from lightlag.study.study import Study
from lightlag.text.terminal import printable

__all__ = ["added"]


def added(
    file: Path, replications: int | None, congestion: Sequence[str], vary: Sequence[str], scenarios: Sequence[str]
) -> tuple[str, Study]:
    """Returns the text of a study file with seeds, algorithms, values or scenarios added, and the study that it
    describes.

    All cells of the study are checked, so the file can safely be overwritten.

    Parameters
    ----------
    replications
        Replaces the value in the file.
    vary
        ``KEY=V1,V2``: values to add to the axis of this key; the axis is created if there is none.

    Raises
    ------
    InputError, ScenarioError
        If there is nothing to add, or if the study could not be run with the additions.
    """
    if replications is None and not (congestion or vary or scenarios):
        raise InputError("nothing to add; name --replications, --congestion, --vary or --scenario")
    Study.read(file)
    try:
        table: Any = tomlkit.parse(read_text(file, "utf-8-sig"))
    except TOMLKitError as error:
        raise InputError(f"{printable(file)}: is not valid TOML: {printable(error)}") from None
    if replications is not None:
        if "until" in table:
            raise InputError(f"{printable(file)}: runs until a target; change max_seeds under [until] instead")
        before = int(table.get("replications", 10))
        if replications <= before:
            raise InputError(f"--replications {replications}: the study has {before} already; write more")
        table["replications"] = replications
    _extend(table, "congestion", [name for one in congestion for name in split(one, ",", "--congestion")], file)
    _extend(table, "scenarios", list(scenarios), file)
    for text in vary:
        key, separator, values = text.partition("=")
        if not separator or not key.strip():
            raise InputError(f'--vary "{text}": is not KEY=V1,V2,...; write for example --vary links.1.loss=0,1e-3')
        _add_values(table, key.strip(), [value for value in split(values, ",", "--vary") if value])
    changed = tomlkit.dumps(table)
    try:
        study = Study.of(tomlkit.parse(changed).unwrap(), file.parent, file.stem)
        study.plan()
    except (InputError, ScenarioError) as error:
        raise InputError(f"{printable(file)}: is as before, because with the addition: {error}") from None
    return changed, study


def _extend(table: Any, key: str, more: list[str], file: Path) -> None:
    """Adds names to a list in the file."""
    if not more:
        return
    present = table.get(key)
    if present is None:
        raise InputError(f"{printable(file)}: names no {key}, which means all of them: there is nothing to add")
    if isinstance(present, dict):
        raise InputError(f"{printable(file)}: {key} is a table with labels; add a line to it")
    if isinstance(present, str):
        table[key] = present = tomlkit.item([present])
    for name in more:
        if name in present:
            raise InputError(f'"{printable(name)}": is among the {key} already')
        present.append(name)


def _add_values(table: Any, key: str, values: list[str]) -> None:
    """Adds values to the axis of a key."""
    axes = [axis for axis in table.get("axes", []) if axis.get("key") == key]
    lists = [axis["values"] for axis in axes] or [table["vary"][key]] if axes or key in table.get("vary", {}) else []
    if lists:
        known = {text_of(value) for value in lists[0].unwrap()}
        lists[0].extend(_plain(value) for value in values if value not in known)
    else:
        table.setdefault("vary", tomlkit.table())[key] = [_plain(value) for value in values]


def _plain(text: str) -> Any:
    """Returns a value as it would be in the file: numbers and tables as such, everything else as text."""
    try:
        return tomlkit.value(text).unwrap()
    except (TOMLKitError, ValueError):
        return text
