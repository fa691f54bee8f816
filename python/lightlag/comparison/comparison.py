"""Several algorithms side by side, with figures, a report and a results directory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag._renamed import former_attributes, former_keywords
from lightlag.errors import InputError
from lightlag.files.input import read_results
from lightlag.outcomes.design import Design
from lightlag.outcomes.outcomes import Outcomes
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.comparison.painters import Painter
    from lightlag.drawing.style import Chart
    from lightlag.plot.listing import Plots
    from lightlag.report.answer import Answer

__all__ = ["Comparison", "load_comparison"]


@former_attributes("Comparison")
class Comparison(Outcomes):
    """Algorithms side by side, over the same seeds and the same values of variables.

    Made by :func:`lightlag.compare`, read with :func:`lightlag.load_comparison`.
    """

    def plot(
        self,
        kind: str | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        ax: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> Chart:
        """Returns a figure; :meth:`plots` lists them.

        Parameters
        ----------
        kind
            By default the first: ``"bars"``, or the goodput against the first variable.
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Existing axes to draw into, one for each panel; by default a new figure is created.
        labels
            Names in the figure to replace, such as ``{"cubic": "Linux's CUBIC", "loss": "Packet loss"}``. Without a
            label, algorithms have the names of their papers, such as BBRv3.
        """
        from lightlag.drawing import names
        from lightlag.drawing.style import save
        from lightlag.plot.comparison import draw

        with names.within(labels):
            figure = draw(self, kind, ax)
        if path is not None:
            save(figure, path)
        return figure

    def plots(self) -> Plots:
        """Returns the figures that this comparison has: names, units, and a sentence about each."""
        from lightlag.plot import listing

        return listing.of_comparison(self)

    @property
    def figures(self) -> list[str]:
        """The figures that this comparison has, in the order of a report."""
        from lightlag.outcomes.kinds import kinds

        return kinds(self)

    @property
    def conclusion(self) -> Answer:
        """The conclusion in sentences: the best candidate by goodput, its lead, its costs, and how certain that is.

        It has a ``headline`` and further ``sentences``.
        """
        from lightlag.report.answer import answer

        return answer(self)

    @former_keywords("Comparison.save")
    def save(
        self,
        directory: str | os.PathLike[str],
        *,
        force: bool = False,
        formats: Sequence[str] = (),
        report: bool = True,
        command: str = "",
        jobs: int | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Path:
        """Writes tables, figures and a report, as a whole or not at all.

        ``run.json``, ``runs`` and ``summary`` as Parquet and CSV, ``flows.parquet``, ``curves.jsonl``, which
        :func:`lightlag.load_comparison` reads to plot again, ``report.html`` and the figures.

        Parameters
        ----------
        force
            Replace a results directory that exists.
        formats
            Formats of the figures for print: pdf, svg and png; by default none.
        report
            Write ``report.html``, one file with the answer, charts and tables.
        command
            The command line, for the report.
        jobs
            Maximum number of simultaneous rendering processes. Defaults to one per processor.
        labels
            Names in the figures to replace, as for :meth:`plot`.
        """
        from lightlag.comparison.painters import painters
        from lightlag.drawing import names
        from lightlag.machine.processors import processors

        jobs = processors() if jobs is None else jobs
        # A process takes as long to start as four figures take to draw.
        with painters(min(jobs - 1, len(self.figures) // 4) if formats else 0) as helpers, names.within(labels):
            self.save_with(helpers, directory, force=force, formats=formats, report=report, command=command)
        return Path(directory)

    def save_with(
        self,
        helpers: Sequence[Painter],
        directory: str | os.PathLike[str],
        *,
        force: bool,
        formats: Sequence[str],
        report: bool,
        command: str,
        study: str | None = None,
    ) -> None:
        """As :meth:`save`, but painter processes render the figures.

        `study` is the text of a ``study.toml`` with the same runs.
        """
        from lightlag.comparison import saving as comparison_report

        about: dict[str, Any] = {"force": force, "formats": formats, "with_report": report, "command": command}
        about["study"] = study
        comparison_report.save(self, Path(directory), helpers=helpers, **about)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}: {', '.join(self.algorithms)}; {len(self.outcomes)} runs>"

    def _repr_html_(self) -> str:
        import html

        from lightlag.text.overview import counted, frame, tables

        head = (
            f"<b>{html.escape(printable(self.name))}</b> · {counted(len(self.outcomes), 'run')}, mean ± 95 % interval"
        )
        return frame(head, *tables([self.rows()], ["row"]))


@former_keywords()
def load_comparison(directory: str | os.PathLike[str]) -> Comparison:
    """Reads the results directory of a comparison.

    Raises
    ------
    InputError
        If the directory does not hold the files of a comparison.
    """
    from lightlag.outcomes import journal

    directory = Path(directory)
    try:
        if not (directory / "run.json").exists():
            raise InputError(
                f'{printable(directory)}: is not a results directory (no run.json); write one with "lightlag compare"'
            )
        about = json.loads(read_results(directory / "run.json"))
        design, version = Design.from_json(about["design"]), about["version"]
        if not isinstance(version, str):
            raise ValueError(f"version holds {version!r:.60}")
        found = journal.read_all(directory / "curves.jsonl")
        places = {(one.label, point) for point in design.points() for one in design.competitors}
        if stray := [one for _, one in found if (one.congestion, one.point) not in places]:
            raise ValueError(f"it has a run of {stray[0].congestion} at {stray[0].point}, which it does not compare")
        if not found:
            raise ValueError("it has no runs")
        outcomes, keys = [one for _, one in found], [key for key, _ in found]
        origin = dict(about.get("origin") or {})
        return Comparison(design, outcomes, keys, version=version, directory=directory, origin=origin)
    except InputError:
        raise
    except KeyError as error:
        reason: object = f"{error} is missing"
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = error
    raise InputError(
        f"{printable(directory)}: does not hold a comparison of this version: {printable(reason)}; repeat it with "
        '"lightlag compare", or read a run or a study with lightlag.load'
    )
