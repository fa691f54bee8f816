"""Reads the results of any command from their directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lightlag._renamed import former_keywords
from lightlag.comparison.comparison import load_comparison
from lightlag.results.result import load as load_run

__all__ = ["load"]


@former_keywords()
def load(directory: str | os.PathLike[str]) -> Any:
    """Reads the results of a run, a comparison or a study from their directory.

    Parameters
    ----------
    directory
        The directory that ``lightlag run``, ``lightlag compare``, ``lightlag study run`` or their Python functions
        wrote.

    Returns
    -------
    Result, Comparison or StudyResults
        Depends on what the directory holds. :func:`load_comparison` and :func:`open_study` do the same for one kind,
        for type checkers.

    Raises
    ------
    InputError
        If the directory does not hold results.
    """
    from lightlag.study.study import open_study

    path = Path(directory)
    try:
        is_comparison, is_study = (path / "curves.jsonl").is_file(), (path / "runs").is_dir()
    except (OSError, ValueError):
        # A name that no file can have: the reader of runs names the fault.
        is_comparison = is_study = False
    if is_comparison:
        return load_comparison(path)
    return open_study(path) if is_study else load_run(path)
