"""``lightlag diff``: two results or two scenarios side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from lightlag.text.terminal import print_json, say

DIFFERENT = 1
"""Exit code of ``--exit-code`` if the two differ."""


def diff(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A results directory of run or compare, a scenario file, or a preset.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one of the same kind.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if A and B differ, otherwise with 0.")
    ] = False,
) -> None:
    r"""Show the differences between two results or two scenarios: first the input, then each metric.

    \b
    lightlag diff results/geo results/geo-2          two runs, flow by flow
    lightlag diff results/a-compare results/b-compare    two comparisons, paired by seed
    lightlag diff geo mine.toml                      two scenarios, key by key as --set takes them

    The difference of two comparisons is the mean over the pairs, B minus A, with its 95 % interval (Student t). d_z is
    that mean divided by the standard deviation of the differences.
    """
    from lightlag.difference.difference import diff as compared
    from lightlag.text.table import print_rows

    found = compared(a, b)
    if as_json:
        print_json(found.to_json(), allow_nan=False)
    else:
        print_rows(found.input_rows(), f"A: {found.a.name}, B: {found.b.name}")
        print_rows(found.rows(), "")
        for note in found.notes():
            say(note)
    if exit_code and not found.is_equal:
        raise typer.Exit(DIFFERENT)
