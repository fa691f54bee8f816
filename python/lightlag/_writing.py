"""Files and folders that stand under their name complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lightlag import _engine

__all__ = ["new_file", "new_folder"]


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, force: bool) -> Iterator[Path]:
    """A sibling folder to write to, which takes the name `folder` at the end.

    Parameters
    ----------
    force
        Replace a folder of results that exists.

    Raises
    ------
    FileExistsError
        If something stands there that is not to be replaced.
    OSError
        If it cannot be written; nothing is left behind.
    """
    folder = Path(folder)
    _engine.check_folder(folder, force)
    partial = _partial(folder)
    try:
        with _named(folder):
            partial.mkdir(parents=True)
            yield partial
            if folder.exists():
                shutil.rmtree(folder)
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A sibling file to write to, which takes the name `path` at the end; replaces what stands there."""
    partial = _partial(path)
    try:
        with _named(path):
            yield partial
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the file system say what could not be written, whoever raised them."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{path}: cannot write: {error.strerror or error}") from error
    except Exception as error:
        # polars reports a full disk as an error of its own.
        if type(error).__module__.startswith("polars"):
            raise OSError(f"{path}: cannot write: {error}") from error
        raise
