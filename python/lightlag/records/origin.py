"""The origin of results: the software, machine and command that computed them, and the command that repeats them.

None of it is part of a result hash or of the key of a run, and no time is recorded: two runs of one command by one
installation have one origin.
"""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lightlag import _engine, _signals
from lightlag.text.notebook import is_notebook

__all__ = ["KEYS", "REPEAT", "again", "facts", "installation", "is_repeatable", "origin", "repeat"]

KEYS = {
    "version": "version of lightlag, of its package and its engine",
    "engine": "version of the engine, with a hash of the sources that affect results",
    "commit": "commit of the clone in which the engine was built; null where it was built elsewhere",
    "modified": "whether tracked files of this clone differed from the commit",
    "python": "version of Python",
    "platform": "operating system, processor and C library",
    "packages": "versions of the packages that affect results in addition to the engine",
    "command": "command as it was typed, or the program that called lightlag; null at a prompt and in a notebook",
}
"""The keys of ``origin`` in ``run.json``, each with its meaning."""

REPEAT = "command that computes the results again, typed in their directory; null if a class of a program took part"
"""The meaning of ``repeat`` in ``run.json``."""

_MODIFIED = "+modified"


def origin(command: str | None = None, packages: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the origin of results that this process computes, with the keys of :data:`KEYS`.

    Parameters
    ----------
    command
        The command, by default the one that this process runs.
    packages
        Packages other than the engine that influence the numbers. The list of all loaded packages would differ from
        call to call.
    """
    return installation() | {
        "packages": {name: str(importlib.import_module(name).__version__) for name in packages},
        "command": _command() if command is None else command,
    }


def installation() -> dict[str, Any]:
    """Returns the part of an origin that is the same for all processes, for results that several processes make
    together.
    """
    commit = _engine.__commit__
    return {
        "version": _engine.__version__,
        "engine": _engine.__build__,
        "commit": commit.removesuffix(_MODIFIED) or None,
        "modified": commit.endswith(_MODIFIED) if commit else None,
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": _platform(),
    }


@cache
def _platform() -> str:
    import platform

    return platform.platform()


def _command() -> str | None:
    if _signals.IS_COMMAND:
        return shlex.join(["lightlag", *sys.argv[1:]])
    if hasattr(sys, "ps1") or is_notebook():
        return None
    program, *rest = sys.orig_argv
    return shlex.join([Path(program).name, *rest])


def facts(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns an origin as lines for a report: names and values.

    Examples
    --------
    >>> facts({"version": "0.1.0", "commit": "0123456789abcdef", "modified": True, "python": "3.12.1"})
    [('lightlag', '0.1.0'), ('commit', '0123456789abcdef, modified'), ('Python', '3.12.1')]
    """
    packages = ", ".join(f"{name} {version}" for name, version in (origin.get("packages") or {}).items())
    lines = [
        ("command", origin.get("command")),
        ("lightlag", origin.get("version")),
        ("engine", origin.get("engine")),
        (
            "commit",
            f"{origin['commit']}{', modified' * bool(origin.get('modified'))}" if origin.get("commit") else None,
        ),
        ("Python", origin.get("python")),
        ("platform", origin.get("platform")),
        ("packages", packages),
    ]
    return [(name, str(value)) for name, value in lines if value]


def again(kind: str, directory: Path | str = ".") -> str:
    """Returns the command that repeats the results of a directory; by default of the directory where it is typed.

    Parameters
    ----------
    kind
        The command that made the results, ``"run"`` or ``"compare"``.
    """
    # The bare name could be the name of a preset.
    place = f"./{directory}" if Path(directory).parent == Path() and Path(directory).name else str(directory)
    return shlex.join(["lightlag", kind, place])


def repeat(kind: str, *scenarios: Mapping[str, Any]) -> str | None:
    """As :func:`again`, typed in the results directory of these scenarios; None if a scenario needs a program."""
    return again(kind) if all(map(is_repeatable, scenarios)) else None


def is_repeatable(value: object) -> bool:
    """Returns true if a scenario is complete: a class that exists only in a program has a digest there, but no file."""
    if isinstance(value, Mapping):
        if "code" in value and not {"python", "plugin"} & value.keys():
            return False
        return all(map(is_repeatable, value.values()))
    return all(map(is_repeatable, value)) if isinstance(value, list) else True
