"""Several algorithms side by side, with figures, a report and a results folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.errors import InputError
from lightlag.files.input import read_results
from lightlag.outcomes.design import Design
from lightlag.outcomes.outcomes import Outcomes
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.comparison.painters import Painter
    from lightlag.drawing.style import Chart

__all__ = ["Comparison", "load_comparison"]


class Comparison(Outcomes):
    """Algorithms side by side, over the same seeds and the same values of variables.

    Made by :func:`lightlag.compare`, read with :func:`lightlag.load_comparison`.
    """

    def plot(self, kind: str | None = None, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """A figure; :attr:`figures` names those there are.

        Parameters
        ----------
        kind
            By default the first: ``"bars"``, or the goodput against the first variable.
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Axes of a figure of yours to draw into, one for each panel.
        """
        from lightlag.drawing.style import save
        from lightlag.plot.comparison import draw

        figure = draw(self, kind, ax)
        if path is not None:
            save(figure, path)
        return figure

    @property
    def figures(self) -> list[str]:
        """The figures that this comparison has, in the order of a report."""
        from lightlag.outcomes.kinds import kinds

        return kinds(self)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        formats: Sequence[str] = (),
        report: bool = True,
        command: str = "",
        jobs: int | None = None,
    ) -> Path:
        """Writes tables, figures and a report, as a whole or not at all.

        ``run.json``, ``runs`` and ``summary`` as Parquet and CSV, ``flows.parquet``, ``curves.jsonl``, from which
        :func:`lightlag.load_comparison` draws again, ``report.html`` and the figures.

        Parameters
        ----------
        force
            Replace a results folder that exists.
        formats
            Of the figures for print: pdf, svg and png; by default none.
        report
            Write ``report.html``, one file with the answer, charts and tables.
        command
            What was typed, for the report.
        jobs
            The most processes that draw at the same time; by default one for each processor.
        """
        from lightlag.comparison.painters import painters
        from lightlag.machine.processors import processors

        jobs = processors() if jobs is None else jobs
        # A process takes as long to start as four figures take to draw.
        with painters(min(jobs - 1, len(self.figures) // 4) if formats else 0) as helpers:
            self.save_with(helpers, folder, force=force, formats=formats, report=report, command=command)
        return Path(folder)

    def save_with(
        self,
        helpers: Sequence[Painter],
        folder: str | os.PathLike[str],
        *,
        force: bool,
        formats: Sequence[str],
        report: bool,
        command: str,
        study: str | None = None,
    ) -> None:
        """As :meth:`save`, with processes that draw; `study` is the text of a ``study.toml`` with the same runs."""
        from lightlag.comparison import saving as comparison_report

        about: dict[str, Any] = {"force": force, "formats": formats, "with_report": report, "command": command}
        about["study"] = study
        comparison_report.save(self, Path(folder), helpers=helpers, **about)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}: {', '.join(self.algorithms)}; {len(self.outcomes)} runs>"

    def _repr_html_(self) -> str:
        import html

        from lightlag.text.overview import counted, frame, tables

        head = (
            f"<b>{html.escape(printable(self.name))}</b> · {counted(len(self.outcomes), 'run')}, mean ± 95 % interval"
        )
        return frame(head, *tables([self.rows()], ["row"]))


def load_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Reads the results folder of a comparison.

    Raises
    ------
    InputError
        If the folder does not hold what a comparison writes.
    """
    from lightlag.outcomes import journal

    folder = Path(folder)
    try:
        if not (folder / "run.json").exists():
            raise InputError(
                f'{printable(folder)}: is not a results folder (no run.json); write one with "lightlag compare"'
            )
        about = json.loads(read_results(folder / "run.json"))
        design, version = Design.from_json(about["design"]), about["version"]
        if not isinstance(version, str):
            raise ValueError(f"version holds {version!r:.60}")
        found = journal.read_all(folder / "curves.jsonl")
        places = {(one.label, point) for point in design.points() for one in design.competitors}
        if stray := [one for _, one in found if (one.congestion, one.point) not in places]:
            raise ValueError(f"it has a run of {stray[0].congestion} at {stray[0].point}, which it does not compare")
        if not found:
            raise ValueError("it has no runs")
        outcomes, keys = [one for _, one in found], [key for key, _ in found]
        origin = dict(about.get("origin") or {})
        return Comparison(design, outcomes, keys, version=version, folder=folder, origin=origin)
    except InputError:
        raise
    except KeyError as error:
        reason: object = f"{error} is missing"
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = error
    raise InputError(
        f"{printable(folder)}: does not hold a comparison of this version: {printable(reason)}; repeat it with "
        '"lightlag compare", or read a run or a study with lightlag.load'
    )
