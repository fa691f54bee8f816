"""Writes the validation page of the packetdrill scripts."""

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
The four collections run against lightlag's TCP in virtual time. A script specifies the arriving segments and the calls of
the application, and compares every transmitted segment and its time. The scripts of google/packetdrill and of the kernel's
selftests run three times: over IPv4, over IPv4 in IPv6 sockets, and over IPv6. The command prints a line for each run.
"""

TRANSLATION = """\
**FreeBSD's scripts** are translated to Linux's settings and names before they run, because FreeBSD has other settings, other
buffer sizes and another order of SYN options. The translation drops advertised windows other than 0, buffer sizes, and
queries of the kernel's connection list (sockstat). It compares the segments with their sequence numbers, flags, times,
options and option values, and the results of calls.
"""


def write_page(folder: Path, suites: list[Suite], verdicts: list[Verdict], left: list[Left]) -> None:
    """Writes the page of the validation."""
    from lightlag_papers.validation.pages import Page, write

    passed = sum(verdict.passed for verdict in verdicts)
    scripts = len({(verdict.suite, verdict.script) for verdict in verdicts})
    result = f"{passed} of {len(verdicts)} runs of {scripts} scripts pass: {100 * passed / len(verdicts):.1f} %."
    page = Page("Packet scripts", result, COMMAND, body(suites, verdicts, left), deviations(suites, verdicts, left))
    write(folder, {"packet-scripts": page})


def deviations(suites: list[Suite], verdicts: list[Verdict], left: list[Left]) -> str:
    """Returns the number of failing runs with a known cause, and of excluded scripts."""
    known = {suite.title: suite.known for suite in suites}
    failed = [verdict for verdict in verdicts if not verdict.passed]
    explained = sum(any(fnmatch.fnmatch(one.script, pattern) for pattern in known[one.suite]) for one in failed)
    text = f"{len(failed)} runs fail, {explained} of them for a known cause. " if failed else ""
    return (
        f"{text}{len(left)} scripts are left out, because they test the kernel outside TCP, an option that lightlag lacks, or "
        "a rule that contradicts an RFC or Linux."
    )


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
    described: dict[tuple[str, str], str] = {}
    for suite in suites:
        mine = [verdict for verdict in verdicts if verdict.suite == suite.title]
        lines += ["", f"## {suite.title}", "", *_areas(mine)]
        lines += _left_out(suite, [script for script in left if script.suite == suite.title], described)
        lines += _failures(suite, [verdict for verdict in mine if not verdict.passed])
    return "\n".join([*lines, ""])


def _areas(verdicts: list[Verdict]) -> list[str]:
    """Returns the passing runs by IP version, for each directory with a failing run."""
    areas = sorted({verdict.area for verdict in verdicts})
    failing = sorted({verdict.area for verdict in verdicts if not verdict.passed})
    if not failing:
        return [f"All runs pass, in {len(areas)} directories."]
    good = len(areas) - len(failing)
    lines = [f"All runs of {good} more directories pass.", ""] if good else []
    lines += ["| scripts | IPv4 | IPv4 in IPv6 sockets | IPv6 |", "|---|---:|---:|---:|"]
    for area in failing:
        cells = []
        for family in FAMILIES:
            mine = [verdict for verdict in verdicts if (verdict.area, verdict.family) == (area, family)]
            cells.append(f"{sum(verdict.passed for verdict in mine)} of {len(mine)}" if mine else "")
        lines.append(f"| {area} | {' | '.join(cells)} |")
    return lines


def _left_out(suite: Suite, left: list[Left], described: dict[tuple[str, str], str]) -> list[str]:
    """Returns the classes of scripts that are left out; a class of an earlier collection is only named."""
    counts = [(one, sum(script.excluded is one for script in left)) for one in dict.fromkeys(x.excluded for x in left)]
    again: dict[str, list[str]] = {}
    rows = []
    for excluded, count in counts:
        if earlier := described.get((excluded.title, excluded.why)):
            again.setdefault(earlier, []).append(f"{excluded.title} {count}")
        else:
            described[excluded.title, excluded.why] = suite.title
            rows.append(f"| {excluded.title} | {count} | {escape(excluded.why)} |")
    lines = []
    for earlier, names in again.items():
        lines += ["", f"Left out as in {earlier}: {', '.join(names)}."]
    if rows:
        lines += ["", "Left out:", "", "| class | scripts | why |", "|---|---:|---|", *rows]
    return lines


def _failures(suite: Suite, failed: list[Verdict]) -> list[str]:
    if not failed:
        return []
    groups: dict[str, list[Verdict]] = {}
    for verdict in failed:
        pattern = next((known for known in suite.known if fnmatch.fnmatch(verdict.script, known)), verdict.script)
        groups.setdefault(pattern, []).append(verdict)
    lines = ["", "| scripts that fail | runs | why | the tool's message about the first |", "|---|---:|---|---|"]
    for pattern, runs in groups.items():
        why = suite.known.get(pattern, "not known")
        lines.append(f"| {pattern} | {len(runs)} | {why} | {escape(runs[0].reason.partition('; script packet')[0])} |")
    return lines


def escape(text: str) -> str:
    """Returns the text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")
