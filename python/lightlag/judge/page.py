"""The page of a judgement, as those of the validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightlag.judge.section import Section, shown

if TYPE_CHECKING:
    from lightlag.judge.judgement import Judgement

__all__ = ["page"]

ABOUT = {
    "response": "One flow on a link that holds four times the larger closed form, with independent losses of data at "
    "probability p. The window is the payload that arrived in the last 60 % of a run, per round trip, in "
    "segments of 1024 B; each segment has its ACK, and slow start ends at Reno's "
    "window. Reno: √(3/2p) (Mathis et al. 1997); CUBIC: RFC 9438 §5.1, without "
    "the Reno-friendly region. Where the link was used by 90 % or more it limited the flow; such points have no part "
    "in the slope, which is a least-squares fit of log window against log p for each seed. A response function of "
    "the algorithm's own must hold within 5 %.",
    "itself": "Flows of the algorithm on 20 Mbit/s, 50 ms and a queue of 1 BDP; the second half of them joins after a "
    "third of the run. Jain's index is that of the last third. `until_fair_s` is the time from the last start until "
    "the index of 3 s of goodput is 0.9; `never_fair_runs` counts runs in which it never was.",
    "cubic": "Two flows of the algorithm and two of CUBIC on 20 Mbit/s and 50 ms: the share of the goodput that the "
    "algorithm's flows have.",
    "rtt": "Two flows of the algorithm on 20 Mbit/s with a queue of 1 BDP of the shorter round trip, 50 ms, and 1 ms "
    "of jitter at the edge against phase effects: the "
    "goodput of the shorter over that of the longer.",
    "queue": "One flow on 20 Mbit/s and 50 ms: mean and 95th percentile of the wait of data packets.",
    "scenes": "Presets of lightlag, with the same seeds for each algorithm. `resent` is the share of segments sent "
    "again.",
    "invariants": "In every run: bytes acknowledged ≤ delivered ≤ arrived ≤ sent, none of them falls, segments sent "
    "and not dropped hold what was delivered, and something arrives at least every 20 timeouts (of two mean round "
    "trips, at least 200 ms). The engine counts packets at the end of each run: sent = received + dropped + in "
    "flight. The first run of each section is made twice.",
}


def page(judgement: Judgement, figures: Sequence[str], command: str) -> str:
    """The page as Markdown."""
    parts = [f"# {judgement.congestion}\n", _head(judgement, command)]
    for section in judgement.sections:
        parts.append(_section(section))
        if section.name in figures:
            parts.append(f"![{section.title}]({section.name}.svg)\n")
    return "\n".join(parts)


def _head(judgement: Judgement, command: str) -> str:
    by = f"`{command}`" if command else "`lightlag.judge.congestion`"
    seeds = f"{judgement.seed} to {judgement.seed + judgement.replications - 1}"
    text = f"Written by {by}, version {judgement.version}. Seeds {seeds}; ± is the half width of a 95 % interval.\n"
    if not judgement.is_complete:
        text += f"\nInterrupted: {len(judgement.sections)} of {len(judgement.wanted) + 1} sections had finished.\n"
    return text


def _section(section: Section) -> str:
    holds = {True: " Holds.", False: " **Does not hold.**", None: ""}[section.holds]
    rows = shown(section.rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "| " + " | ".join("---" for _ in rows[0]) + " |"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    table = "\n".join(lines)
    return f"## {section.title}\n\n{ABOUT[section.name]}\n\n{section.verdict}.{holds}\n\n{table}\n"
