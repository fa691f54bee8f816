"""``lightlag validate congestion NAME``: a validation with its page."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag import _signals
from lightlag.errors import CommandError, InputError, Interrupted
from lightlag.files.writing import check_folder, reserved
from lightlag.text import progress as _progress
from lightlag.text.table import print_rows
from lightlag.text.terminal import print_json, say

if TYPE_CHECKING:
    from lightlag.validation import Assessment

__all__ = ["validate"]

FAILED = 1


def validate(
    name: str | None,
    *,
    out: Path | None,
    force: bool,
    replications: int | None,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Validates a congestion control, prints a line per section and writes the page.

    Raises
    ------
    CommandError
        If a check does not hold, or a signal ended the runs; finished sections are written.
    """
    from lightlag.validation.tasks import label_of, read_choice

    if not name:
        raise InputError("no congestion control is named; write lightlag validate congestion cubic")
    choice = read_choice(name)
    file = re.sub(r"[^A-Za-z0-9._+]+", "-", label_of(choice)).strip("-.")
    folder = out if out is not None else Path("results") / f"{file}-validation"
    check_folder(folder, force)
    with _signals.held(), reserved(folder):
        # Again: another command may have just ended there.
        check_folder(folder, force)
        found = _made(name, replications, jobs, shown=not quiet)
        if not found.sections:
            raise CommandError(_signals.code(), "interrupted before a section had finished; nothing was stored")
        found.save(folder, force=force, command=shlex.join(["lightlag", *sys.argv[1:]]))
        if as_json:
            print_json(found.record(), allow_nan=False)
        elif not quiet:
            _print(found)
            say(f"page, figures and assessment.json in {folder}")
        if not found.is_complete:
            count = f"{len(found.sections)} of {len(found.wanted) + 1} sections had finished and are in {folder}"
            raise CommandError(_signals.code(), f"interrupted; {count}")
    if failures := found.failures():
        raise CommandError(FAILED, "\n".join(f"does not hold: {line}" for line in failures))


def _made(name: str, replications: int | None, jobs: int | None, *, shown: bool) -> Assessment:
    """Returns the validation, or its finished sections after Ctrl-C."""
    from lightlag.validation import congestion
    from lightlag.validation.assessment import REPLICATIONS

    count = REPLICATIONS if replications is None else replications
    try:
        with _progress.of_count(name, shown=shown) as progress:
            return congestion(name, replications=count, jobs=jobs, progress=progress)
    except Interrupted as error:
        return error.result  # type: ignore[return-value]


def _print(found: Assessment) -> None:
    """Prints a table row for each section."""
    verdict = {True: "holds", False: "DOES NOT HOLD", None: "for information"}
    rows = [{"section": one.title, "verdict": verdict[one.holds], "found": one.verdict} for one in found.sections]
    seeds = f"{found.replications} seed{'s' * (found.replications > 1)}"
    print_rows(rows, f"{found.congestion}: {seeds} per point")
