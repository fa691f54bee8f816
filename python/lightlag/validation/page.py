"""The page of a validation, in the same form as the validation pages of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightlag.validation.section import Section, shown

if TYPE_CHECKING:
    from lightlag.validation.assessment import Assessment

__all__ = ["page"]

ABOUT = {
    "response": "One flow on a link that holds four times the larger closed form, with independent losses of data "
    "at probability p. The window is the payload delivered in the last 60 % of a run, per round trip, "
    "in segments of 1024 B; each segment is acknowledged, and slow start ends at Reno's window. Reno: "
    "√(3/2p) (Mathis et al. 1997); CUBIC: RFC 9438 §5.1, without the Reno-friendly region. Points with "
    "a utilisation of 90 % or more, where the link limits the flow, are excluded from the slope, which "
    "is a least-squares fit of log window against log p for each seed. A response function of the "
    "algorithm's own must hold within 5 %.",
    "itself": "Flows of the algorithm on 20 Mbit/s, 50 ms and a queue of 1 BDP; half of them join after a third of "
    "the run. Jain's index covers the last third. `until_fair_s` is the time from the last start until "
    "the index of 3 s of goodput is 0.9; `never_fair_runs` counts the runs in which it never reached 0.9.",
    "cubic": "Two flows of the algorithm and two of CUBIC on 20 Mbit/s and 50 ms: the goodput of the algorithm's "
    "flows as a fraction of the total.",
    "rtt": "Two flows of the algorithm on 20 Mbit/s with a queue of 1 BDP of the shorter round trip, 50 ms, and 1 "
    "ms of jitter on the access links against phase effects: the goodput of the flow with the shorter round "
    "trip divided by the other's.",
    "queue": "One flow on 20 Mbit/s and 50 ms: mean and 95th percentile of the queueing delay of data packets.",
    "scenes": "Presets of lightlag, with the same seeds for each algorithm. `retransmitted` is the fraction of "
    "retransmitted segments.",
    "invariants": "In every run: bytes acknowledged ≤ delivered ≤ arrived ≤ sent, none of them falls, segments sent "
    "and not dropped hold the delivered data, and data arrive at least every 20 timeouts (of two mean "
    "round trips, at least 200 ms). The engine counts packets at the end of each run: sent = received "
    "+ dropped + in flight. The first run of each section is repeated.",
}


def page(assessment: Assessment, figures: Sequence[str], command: str) -> str:
    """Returns the page as Markdown."""
    title = f"{assessment.congestion}: {assessment.subject}" if assessment.subject else assessment.congestion
    parts = [f"# {title}\n", _head(assessment, command)]
    if assessment.subject:
        parts.append(_overview(assessment))
    for section in assessment.sections:
        parts.append(_section(section))
        if section.name in figures:
            parts.append(f"![{section.title}]({section.name}.svg)\n")
    return "\n".join(parts)


def _head(assessment: Assessment, command: str) -> str:
    function = "bbr" if assessment.subject else "congestion"
    by = f"`{command}`" if command else f"`lightlag.validation.{function}`"
    seeds = f"{assessment.seed} to {assessment.seed + assessment.replications - 1}"
    judged = [one for one in assessment.sections if one.holds is not None]
    missed = [one.title for one in judged if not one.holds]
    verdict = f"**{len(judged) - len(missed)} of {len(judged)} sections with a tolerance hold.**"
    others = [one.title for one in assessment.sections if one.holds is None]
    if assessment.subject and others:
        verdict += f" Not applicable: {'; '.join(others)}."
    if missed:
        verdict += f" Not fulfilled: {'; '.join(missed)}."
    text = f"{verdict}\n\nWritten by {by}, version {assessment.version}. "
    text += f"Seeds {seeds}; ± is the half width of a 95 % interval.\n"
    if not assessment.is_complete:
        text += f"\nInterrupted: {len(assessment.sections)} of {len(assessment.wanted) + 1} sections had finished.\n"
    return text


def _overview(assessment: Assessment) -> str:
    """Returns the table of the cases with their verdicts."""
    verdict = {True: "holds", False: "**fails**", None: "not applicable"}
    lines = ["| case | verdict | found (expected) |", "| --- | --- | --- |"]
    lines += [f"| {one.title} | {verdict[one.holds]} | {one.verdict} |" for one in assessment.sections]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> str:
    holds = {True: " Holds.", False: " **Does not hold.**", None: ""}[section.holds]
    rows = shown(section.rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "| " + " | ".join("---" for _ in rows[0]) + " |"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    table = "\n".join(lines)
    return f"## {section.title}\n\n{section.about or ABOUT[section.name]}\n\n{section.verdict}.{holds}\n\n{table}\n"
