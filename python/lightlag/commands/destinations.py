"""Default directories of results: a command that reruns a file takes the next free name."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

from lightlag.files.writing import is_locked

__all__ = ["unused"]


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
    names = (folder if number == 1 else folder.with_name(f"{folder.name}-{number}") for number in itertools.count(1))
    return next(name for name in names if (not os.path.lexists(name) and not is_locked(name)) or may_take(name))
