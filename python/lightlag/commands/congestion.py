"""``lightlag validate congestion NAME`` and ``lightlag validate bbr``: validations with their pages."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag import _signals
from lightlag.errors import CommandError, InputError, Interrupted
from lightlag.files import destinations
from lightlag.files.writing import check_folder, reserved
from lightlag.text import progress as _progress
from lightlag.text.table import print_rows
from lightlag.text.terminal import print_json, printable, say

if TYPE_CHECKING:
    from lightlag.validation import Assessment

__all__ = ["validate", "validate_bbr"]

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
    from lightlag import validation

    if not name:
        raise InputError("no congestion control is named; write lightlag validate congestion cubic")
    assess = partial(validation.congestion, name)
    _validate(name, assess, out, _folder(name, "validation"), force, replications, jobs, as_json, quiet)


def validate_bbr(
    name: str | None,
    only: str,
    *,
    out: Path | None,
    force: bool,
    replications: int | None,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Runs the test cases of BBR with a congestion control, prints a line per case and writes the page.

    Raises
    ------
    CommandError
        If a case fails, or a signal ended the runs; finished cases are written.
    """
    from lightlag import validation

    name = "bbr3" if name is None else name
    if not name:
        raise InputError("--congestion: names no congestion control; write --congestion bbr3")
    assess = partial(validation.bbr, name, cases=_cases(only))
    _validate(name, assess, out, _folder(name, "bbr-cases"), force, replications, jobs, as_json, quiet)


def _cases(only: str) -> Sequence[str]:
    """Returns the names of the cases that contain a text."""
    from lightlag.validation.cases.catalogue import CASES

    found = [case for case in CASES if only in case]
    if not found:
        raise InputError(f'--only: no case contains "{printable(only)}"; they are {", ".join(CASES)}')
    return found


def _folder(name: str, what: str) -> Path:
    """Returns the default directory of a validation."""
    from lightlag.validation.tasks import label_of, read_choice

    file = re.sub(r"[^A-Za-z0-9._+]+", "-", label_of(read_choice(name))).strip("-.")
    return Path("results") / f"{file}-{what}"


def _validate(
    name: str,
    assess: Callable[..., Assessment],
    out: Path | None,
    default: Path,
    force: bool,
    replications: int | None,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    folder = destinations.unused(default, force=force) if out is None else out
    check_folder(folder, force)
    with _signals.held(), reserved(folder):
        # Again: another command may have just ended there.
        check_folder(folder, force)
        found = _made(name, assess, replications, jobs, shown=not quiet)
        if not found.sections:
            raise CommandError(_signals.code(), "interrupted before a section had finished; nothing was stored")
        found.save(folder, force=force, command=shlex.join(["lightlag", *sys.argv[1:]]))
        if as_json:
            print_json(found.record(), allow_nan=False)
        elif not quiet:
            _print(found)
            why = destinations.instead(folder, default) if out is None else ""
            say(f"page, figures and assessment.json in {folder}{why}")
        if not found.is_complete:
            count = f"{len(found.sections)} of {len(found.wanted) + 1} sections had finished and are in {folder}"
            raise CommandError(_signals.code(), f"interrupted; {count}")
    if failures := found.failures():
        raise CommandError(FAILED, "\n".join(f"does not hold: {line}" for line in failures))


def _made(
    name: str, assess: Callable[..., Assessment], replications: int | None, jobs: int | None, *, shown: bool
) -> Assessment:
    """Returns the validation, or its finished sections after Ctrl-C."""
    from lightlag.validation.assessment import REPLICATIONS

    count = REPLICATIONS if replications is None else replications
    try:
        with _progress.of_count(name, shown=shown) as progress:
            return assess(replications=count, jobs=jobs, progress=progress)
    except Interrupted as error:
        return error.result  # type: ignore[return-value]


def _print(found: Assessment) -> None:
    """Prints a table row for each section."""
    unjudged = "not applicable" if found.subject else "for information"
    verdict = {True: "holds", False: "DOES NOT HOLD", None: unjudged}
    what = "case" if found.subject else "section"
    rows = [{what: one.title, "verdict": verdict[one.holds], "found": one.verdict} for one in found.sections]
    seeds = f"{found.replications} seed{'s' * (found.replications > 1)}"
    print_rows(rows, f"{found.congestion}: {seeds} per point")
