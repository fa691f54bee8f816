"""Importers: a file is rejected with one line of text, or the written scenario passes `check`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from files import message_of, put
from lightlag.errors import InputError
from lightlag.imports import KINDS, Options, to_scenario
from lightlag.text.terminal import printable

__all__ = ["TARGETS"]

FILES: Mapping[str, tuple[str, ...]] = {
    "capture": ("seen.pcap",),
    "hypatia": ("networkx_path_0_to_1.txt", "networkx_rtt_0_to_1.txt"),
    "hypatia_network": (
        "tles.txt",
        "ground_stations.txt",
        "isls.txt",
        "description.txt",
        "gsl_interfaces_info.txt",
    ),
    "mahimahi": ("link.down",),
}
"""Names of the files of a target, starting with the imported one. Targets that are not listed have one file."""
_FIRST_KINDS = {module: kind for kind, module in reversed(list(KINDS.items()))}
for _module in _FIRST_KINDS:
    # Otherwise it is imported by its first use, without coverage.
    importlib.import_module(f"lightlag.imports.{_module}")


def _exercise(module: str, kind: str | None, data: bytes, folder: Path) -> None:
    """Imports a file; lines ``#column X`` and ``#missing X`` at the start of a table are options."""
    path = put(FILES.get(module, ("file.txt",)), data, folder)
    options = _options(data) if module in ("table", "any") else Options()
    _import(path, kind, options)


def _import(path: Path, kind: str | None, options: Options) -> None:
    message = _refusal(path, kind, options)
    # An error that names the missing rate or delay can be resolved.
    if message is not None and ("--rate" in message or "--delay" in message):
        given = replace(options, rate="20 Mbit/s", delay="20 ms")
        message = _refusal(path, kind, given) or ""
        assert "the link, as --" not in message, message


def _merge(data: bytes, folder: Path) -> None:
    """Imports a file for each direction, and one with delays; a file without contents is not named."""
    names = ("down.txt", "up.txt", "delays.txt")
    path = put(names, data, folder)
    up, delays = ((folder / name) if (folder / name).exists() else None for name in names[1:])
    if path.exists():
        _import(path, None, Options(up=up, delays=delays))


def _options(data: bytes) -> Options:
    """The options in comments at the start of a table."""
    given: dict[bytes, list[str]] = {b"#column": [], b"#missing": []}
    for line in data.split(b"\n"):
        word, _, rest = line.partition(b" ")
        if word not in given:
            break
        given[word].append(rest.decode("utf-8", "replace"))
    return Options(columns=tuple(given[b"#column"]), missing=tuple(given[b"#missing"]))


def _refusal(path: Path, kind: str | None, options: Options) -> str | None:
    """Imports a file; returns the message of the error, or None."""
    try:
        page = to_scenario(path, kind=kind, options=options)
    except InputError as error:
        return message_of(error)
    assert page.text == printable(page.text, keep="\n"), f"{page.text!r} has control characters"
    return None


TARGETS: Mapping[str, Callable[[bytes, Path], None]] = {
    **{f"import_{module}": partial(_exercise, module, kind) for module, kind in _FIRST_KINDS.items()},
    "import_any": partial(_exercise, "any", None),
    "import_merge": _merge,
}
"""A target for each module that reads a kind of file, one that detects the kind, and one for several files."""
