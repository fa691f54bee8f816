"""The results of a comparison on disk: tables, figures, and a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lightlag.comparison import painters
from lightlag.errors import InputError
from lightlag.files.writing import new_folder
from lightlag.outcomes.outcomes import Outcomes

__all__ = ["FORMATS", "files_of", "report", "save"]

FORMATS = ("pdf", "svg", "png")
_HOLDS = {
    "summary.csv": "means and intervals of each algorithm at each point",
    "summary.parquet": "means and intervals of each algorithm at each point",
    "runs.csv": "one row per run",
    "runs.parquet": "one row per run",
    "flows.parquet": "one row per run and flow",
    "curves.jsonl": "every run with its curves, one line per run",
    "study.toml": "the same runs as a study: for more seeds, a target, or a cluster",
    "run.json": "the design",
}


def save(
    comparison: Outcomes,
    directory: Path,
    *,
    force: bool,
    formats: Sequence[str],
    with_report: bool,
    command: str,
    study: str | None,
    helpers: Sequence[painters.Painter],
) -> Path:
    """Writes a results directory, as a whole or not at all; see :meth:`Comparison.save`."""
    from lightlag.outcomes import journal

    for kind in formats:
        if kind not in FORMATS:
            raise InputError(f'"{kind}" is not a format of figures; name one of {", ".join(FORMATS)}')
    with new_folder(directory, force=force) as partial:
        (partial / "run.json").write_text(json.dumps(comparison.about(), indent=2) + "\n", "utf-8")
        (partial / "curves.jsonl").write_text("".join(journal.lines(comparison.keyed())), "utf-8")
        if study is not None:
            (partial / "study.toml").write_text(study, "utf-8")
        runs, summary = comparison.runs, comparison.summary
        runs.write_parquet(partial / "runs.parquet")
        runs.write_csv(partial / "runs.csv")
        summary.write_parquet(partial / "summary.parquet")
        summary.write_csv(partial / "summary.csv")
        comparison.flows.write_parquet(partial / "flows.parquet")
        drawn = painters.draw(comparison, formats, helpers) if formats else {}
        for (kind, suffix), data in drawn.items():
            (partial / f"{kind}.{suffix}").write_bytes(data)
        if with_report:
            from lightlag.report.comparison import comparison_page
            from lightlag.running.single import run

            (partial / "report.html").write_text(
                comparison_page(comparison, command, files_of(partial), run=run), "utf-8"
            )
    return directory


def files_of(directory: Path) -> dict[str, str]:
    """Returns the files of a results directory that its report links to, with their descriptions."""
    figures = sorted(path.name for path in directory.iterdir() if path.suffix[1:] in FORMATS)
    there = {name: about for name, about in _HOLDS.items() if (directory / name).exists()}
    return there | dict.fromkeys(figures, "figures for print")


def report(comparison: Outcomes, command: str = "", directory: Path | None = None) -> str:
    """Returns the report as HTML.

    Parameters
    ----------
    command
        The command line.
    directory
        The directory of the report, if it links to the files there.
    """
    from lightlag.report.comparison import comparison_page
    from lightlag.running.single import run

    return comparison_page(comparison, command, {} if directory is None else files_of(directory), run=run)
