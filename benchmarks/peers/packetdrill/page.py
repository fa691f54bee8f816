"""The page of the validation."""

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from runs import FAMILIES, Verdict
from suites import Excluded, Suite


@dataclass(frozen=True)
class Left:
    """A script that does not run. `suite` is the title of the collection."""

    suite: str
    name: str
    excluded: Excluded


COMMAND = "make packetdrill TOOL=... SELFTESTS=... FREEBSD=... GVISOR=..."

INTRODUCTION = """\
Packet scripts of four collections, run against our TCP in virtual time. A script says which segments arrive and which
calls the application makes, and compares every segment that leaves, with its time. Those of google/packetdrill and of the
kernel's selftests run three times: over IPv4, over IPv4 in sockets of IPv6, and over IPv6.
"""

TRANSLATION = """\
**FreeBSD's scripts** are translated to Linux's words before they run, as they stand for a kernel with other settings,
other sizes of buffers and another order of the options of a SYN. Dropped are advertised windows other than 0, sizes of
buffers, and looks at the kernel's list of connections (sockstat). Compared are the segments, their numbers, flags, times,
options and values of options, and the results of calls.
"""


def write_page(folder: Path, suites: list[Suite], verdicts: list[Verdict], left: list[Left]) -> None:
    """Writes the page of the validation."""
    from lightlag_papers.validation.pages import Page, write

    passed = sum(verdict.passed for verdict in verdicts)
    scripts = len({(verdict.suite, verdict.script) for verdict in verdicts})
    result = f"{passed} of {len(verdicts)} runs of {scripts} scripts pass: {100 * passed / len(verdicts):.1f} %."
    write(folder, {"packet-scripts": Page("Packet scripts", result, COMMAND, body(suites, verdicts, left))})


def body(suites: list[Suite], verdicts: list[Verdict], left: list[Left]) -> str:
    """Returns the tables of all collections."""
    lines = [
        INTRODUCTION,
        "| collection | scripts | left out | run | scripts that pass in all their runs | runs that pass |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for suite in suites:
        mine = [verdict for verdict in verdicts if verdict.suite == suite.title]
        out = sum(script.suite == suite.title for script in left)
        run = {verdict.script for verdict in mine}
        failing = {verdict.script for verdict in mine if not verdict.passed}
        lines.append(
            f"| {suite.title} | {len(run) + out} | {out} | {len(run)} | {len(run - failing)} | "
            f"{sum(verdict.passed for verdict in mine)} of {len(mine)} |"
        )
    if any(suite.translate for suite in suites):
        lines += ["", TRANSLATION.rstrip()]
    for suite in suites:
        mine = [verdict for verdict in verdicts if verdict.suite == suite.title]
        lines += ["", f"## {suite.title}", "", *_areas(mine)]
        lines += _left_out(suite, [script for script in left if script.suite == suite.title])
        lines += _failures(suite, [verdict for verdict in mine if not verdict.passed])
    return "\n".join([*lines, ""])


def _areas(verdicts: list[Verdict]) -> list[str]:
    """Runs that pass, by folder and by family of addresses."""
    lines = ["| scripts | IPv4 | IPv4 in IPv6 sockets | IPv6 |", "|---|---:|---:|---:|"]
    for area in sorted({verdict.area for verdict in verdicts}):
        cells = []
        for family in FAMILIES:
            mine = [verdict for verdict in verdicts if (verdict.area, verdict.family) == (area, family)]
            cells.append(f"{sum(verdict.passed for verdict in mine)} of {len(mine)}" if mine else "")
        lines.append(f"| {area} | {' | '.join(cells)} |")
    return lines


def _left_out(suite: Suite, left: list[Left]) -> list[str]:
    if not left:
        return []
    lines = ["", "Left out:", "", "| class | scripts | why |", "|---|---:|---|"]
    for excluded in dict.fromkeys(script.excluded for script in left):
        count = sum(script.excluded is excluded for script in left)
        lines.append(f"| {excluded.title} | {count} | {escape(excluded.why)} |")
    return lines


def _failures(suite: Suite, failed: list[Verdict]) -> list[str]:
    if not failed:
        return []
    groups: dict[str, list[Verdict]] = {}
    for verdict in failed:
        pattern = next((known for known in suite.known if fnmatch.fnmatch(verdict.script, known)), verdict.script)
        groups.setdefault(pattern, []).append(verdict)
    lines = ["", "| scripts that fail | runs | why | the tool's complaint about the first |", "|---|---:|---|---|"]
    for pattern, runs in groups.items():
        why = suite.known.get(pattern, "not known")
        lines.append(f"| {pattern} | {len(runs)} | {why} | {escape(runs[0].reason)} |")
    return lines


def escape(text: str) -> str:
    """Returns the text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")
