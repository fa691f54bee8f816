"""``lightlag report``: the report of results as a web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag.commands.figures import Force


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results directory of a run, a comparison or a study.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write. Default: DIR/report.html.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="DIR|URL", help="Store of the runs of a study. Default: store next to DIR."),
    ] = None,
    with_why: Annotated[
        bool,
        typer.Option("--why", help="Run again without each possible cause, and add the causes of the slowest flow."),
    ] = False,
    force: Force = False,
) -> None:
    r"""Write the report of a results directory as one self-contained HTML file.

    \b
    Run: what limited the flows; windows, round-trip times, goodput, queues and losses over time.
    Comparison or study: which algorithm is best and by how much, charts and tables.
    """
    from lightlag.comparison import saving as comparison_report
    from lightlag.difference.difference import check_store, read_result
    from lightlag.errors import InputError
    from lightlag.files.output import check_file, is_stream, say_written, write_text
    from lightlag.results.result import Result
    from lightlag.study import StudyResults
    from lightlag.text.progress import of_count
    from lightlag.text.terminal import printable

    result = read_result(folder)
    check_store(store, [result])
    path = folder / "report.html" if out is None else out
    # Links lead from the page to its neighbours.
    is_beside = not is_stream(path) and path.parent.resolve() == folder.resolve()
    beside = folder if is_beside else None
    check_file(path, force=force, inputs=[folder])
    if with_why and not isinstance(result, Result):
        raise InputError(f"--why: {printable(str(folder))} has several runs; name the results of one run")
    if isinstance(result, Result):
        causes = None
        if with_why:
            from lightlag.diagnosis import diagnosis

            with of_count("causes", shown=True) as progress:
                causes = diagnosis.why(result, progress=progress)
        page = result.report(beside, causes=causes)
    else:
        comparison = result.comparison(store) if isinstance(result, StudyResults) else result
        page = comparison_report.report(comparison, directory=beside)
    write_text(path, page)
    say_written(path)
