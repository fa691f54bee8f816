"""``lightlag report``: the report of results as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag.commands.figures import Force


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder: of a run, a comparison or a study.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page. Default: DIR/report.html.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="DIR|URL", help="Of a study: where its runs are. Default: store beside DIR."),
    ] = None,
    force: Force = False,
) -> None:
    r"""Write the report of a results folder: one HTML file that needs nothing else.

    \b
    Of a run: why it was as fast as it was, and windows, round trips, goodput, queues and losses over time.
    Of a comparison or a study: which algorithm is best and by how much, charts and tables.
    """
    from lightlag.comparison import saving as comparison_report
    from lightlag.difference.difference import check_store, read_result
    from lightlag.files.output import check_file, is_stream, new_file, say_written
    from lightlag.results.result import Result
    from lightlag.study import StudyResults

    result = read_result(folder)
    check_store(store, [result])
    path = folder / "report.html" if out is None else out
    # Links lead from the page to its neighbours.
    is_beside = not is_stream(path) and path.parent.resolve() == folder.resolve()
    beside = folder if is_beside else None
    check_file(path, force=force, inputs=[folder])
    if isinstance(result, Result):
        page = result.report(beside)
    else:
        comparison = result.comparison(store) if isinstance(result, StudyResults) else result
        page = comparison_report.report(comparison, folder=beside)
    with new_file(path) as partial:
        partial.write_text(page, "utf-8")
    say_written(path)
