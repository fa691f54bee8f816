"""Names that lightlag chooses itself for results and files: where one is taken, the next free one.

A name that a user gives with ``--out`` is used as it is, or is an error.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from lightlag.files.writing import is_locked
from lightlag.text.terminal import printable

__all__ = ["instead", "names", "unused"]


def names(name: str) -> Iterator[str]:
    """Yields a name, and the names that take its place: ``NAME-2``, ``NAME-3``, ….

    Examples
    --------
    >>> list(itertools.islice(names("geo"), 3))
    ['geo', 'geo-2', 'geo-3']
    """
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


def unused(folder: Path, *, force: bool, may_take: Callable[[Path], bool] = lambda _: False) -> Path:
    """Returns the directory, or the first of ``NAME-2``, ``NAME-3``, … that is free.

    A directory in which another process is writing is not free.

    Parameters
    ----------
    force
        Return the directory itself: its results are to be replaced.
    may_take
        Function that returns True for an existing directory whose results the command continues.

    Examples
    --------
    >>> unused(Path("no-such-folder"), force=False)
    PosixPath('no-such-folder')
    """
    if force:
        return folder
    paths = (folder.with_name(name) for name in names(folder.name))
    return next(path for path in paths if (not os.path.lexists(path) and not is_locked(path)) or may_take(path))


def instead(folder: Path, default: Path) -> str:
    """Returns the reason for another directory than the default one, to follow its name; otherwise an empty text.

    Examples
    --------
    >>> instead(Path("results/geo-2"), Path("results/geo"))
    ' (results/geo exists already; --force replaces it)'
    """
    return "" if folder == default else f" ({printable(default)} exists already; --force replaces it)"
