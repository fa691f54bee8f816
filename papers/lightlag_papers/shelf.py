"""Finished papers are stored next to their future directory, so that an interruption loses at most one paper.

For a directory ``NAME``, ``.NAME.unfinished`` next to it contains each paper's results directory and
``PAPER.json``, which stores its reproduction. That file is written last, so a paper without it is not finished.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lightlag
from lightlag import _signals
from lightlag.files.output import write_text
from lightlag.files.writing import reserved
from lightlag.outcomes.journal import key_of
from lightlag.text.terminal import printable
from lightlag_papers.kept import KeptRuns
from lightlag_papers.paper import Paper, Reproduction

__all__ = ["Shelf"]


class Shelf:
    """The directory that stores finished papers until all are finished."""

    def __init__(self, folder: str | os.PathLike[str], papers: Sequence[Paper], seeds: int | None) -> None:
        self.folder = Path(folder).with_name(f".{Path(folder).name}.unfinished")
        self.papers = papers
        self.finished: list[Paper] = []
        """Papers that are finished and need not be run again."""
        self._target = folder
        self._key = _key(seeds)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Locks the directory. If a signal ends the process, a message reports the stored results.

        Raises
        ------
        FolderError
            If another process is writing there, or the directory cannot be written.
        """
        self.finished = [paper for paper in self.papers if self._read(paper) is not None]
        target = reserved(self._target)

        def told() -> str:
            target.__exit__(None, None, None)
            return self.told()

        with _signals.held():
            target.__enter__()
            keeping = _signals.telling(told)
            keeping.__enter__()
        try:
            yield
        finally:
            with _signals.held():
                keeping.__exit__(None, None, None)
                target.__exit__(None, None, None)

    def told(self) -> str:
        """Returns a message on the papers that stay stored if the process ends now, with the command to continue."""
        if not self.finished:
            kept = sum(len(self.runs_of(paper)) for paper in self.papers)
            runs = f"{kept} runs are stored in {printable(self.folder)}" if kept else "nothing was written"
            return f"no paper had finished, {runs}"
        names = ", ".join(paper.name for paper in self.finished)
        if not self.folder.exists():
            return f"all {len(self.papers)} papers are in {printable(self._target)}"
        return (
            f"{len(self.finished)} of {len(self.papers)} papers had finished and are stored in "
            f"{printable(self.folder)} ({names}); the same command continues with the others"
        )

    def take(self, paper: Paper) -> Reproduction | None:
        """Returns the stored reproduction of a paper."""
        if (record := self._read(paper)) is None:
            return None
        return Reproduction.restored(paper, record, self.folder / paper.name)

    def runs_of(self, paper: Paper) -> KeptRuns:
        """Returns the finished runs of a paper that has not finished."""
        return KeptRuns(self.folder / f"{paper.name}.runs")

    def keep(self, one: Reproduction) -> None:
        """Stores the reproduction of a paper that has finished."""
        with _signals.held():
            self.folder.mkdir(exist_ok=True)
            about = self._about(one.paper)
            about.unlink(missing_ok=True)
            one.save(self.folder / one.paper.name, force=True)
            write_text(about, json.dumps({"key": self._key} | one.record()) + "\n")
            self.runs_of(one.paper).remove()
            one.kept = self.folder / one.paper.name
            self.finished.append(one.paper)

    def remove(self) -> None:
        """Removes the directory, once everything is stored elsewhere."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _about(self, paper: Paper) -> Path:
        return self.folder / f"{paper.name}.json"

    def _read(self, paper: Paper) -> dict[str, Any] | None:
        """Returns the stored reproduction of a paper, if it has the same engine, program and number of seeds."""
        try:
            record: dict[str, Any] = json.loads(self._about(paper).read_text("utf-8"))
            Reproduction.restored(paper, record, self.folder / paper.name)
            names = [f"{one['name']}.png" for one in record["figures"]]
            is_whole = all((self.folder / paper.name / name).is_file() for name in ("run.json", *names))
            return record if is_whole and record["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


def _key(seeds: int | None) -> str:
    packages = Path(lightlag.__file__).parent, Path(__file__).parent
    program = (path.read_bytes() for package in packages for path in sorted(package.rglob("*.py")))
    return key_of(json.dumps({"seeds": seeds}).encode(), *program)
