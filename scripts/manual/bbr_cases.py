"""The page of BBR's test cases in ``docs/validation``: ``make bbr-cases`` writes it.

``REASONS`` explains each case that fails. A reason names one change that makes the case hold, or the rule of the
algorithm's source.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lightlag import _engine, validation
from lightlag.files.output import write_text
from lightlag.validation import Assessment
from lightlag.validation.cases.catalogue import CASES
from lightlag.validation.figures import figures
from lightlag.validation.section import HALF
from lightlag_papers.table import markdown_table
from lightlag_papers.validation import pages

__all__ = ["PAGE", "REASONS", "assessments", "page", "write"]

PAGE = Path(__file__).parents[2] / "docs" / "validation" / "bbr.md"
ALGORITHMS = ("bbr3", "bbr")
FIGURES = ("down-time", "increase", "aggregation-startup", "policer")
"""Cases of bbr3 with a figure on the page; ``lightlag validate bbr`` draws one for each case."""

REASONS: dict[tuple[str, str], str] = {
    (
        "bbr3",
        "aggregation-startup",
    ): "the draft's full-pipe estimator compares only the sample of the ACK that starts a round, "
    "and the first ACK of a burst has a low one. A copy of STARTUP as a custom algorithm has the same estimate; with a "
    "comparison at every ACK, as in Linux's version 3, its estimate is 1.00 of the link",
    (
        "bbr3",
        "policer",
    ): "a full bucket lets a probe measure more than the token rate. With a bucket of 30 kB instead of "
    "125 kB the losses are 0.7 to 1.2 %; without PROBE_RTT, in which the bucket fills, the median estimate is 1.02",
    ("bbr", "startup-loss"): "version 1 has no exit on losses. With unlimited data on the same path STARTUP ends after "
    "0.9 s, by its plateau",
    ("bbr", "drain-inflight"): "the gain of version 1 is ln 2/2 = 0.347",
    ("bbr", "drain-time"): "version 1 has no limit in rounds: with a rate that falls by 70 % DRAIN lasts 12 rounds",
    ("bbr", "up-plateau"): "version 1 ends the gain of 1.25 after a minimum RTT, once the flight is 1.25 BDP",
    (
        "bbr",
        "down-inflight",
    ): "the gain of version 1 is 0.75, and it compares the flight before the ACK, which may be two segments larger",
    (
        "bbr",
        "probe-rtt",
    ): "the interval of version 1 is 10 s (`rtt_window`; with 5 s the interval is 5.0 s), and its window is 4 segments",
    ("bbr", "aggregation-startup"): "bursts 30 ms apart instead of 40 ms: estimate 1.04 of the link",
    (
        "bbr",
        "policer",
    ): "losses do not reduce the rate of version 1, and its detection of policers requires losses of 20 %; "
    "without it (`policer = false`) the losses are 7.4 %",
    ("bbr", "spurious-rto"): "version 1 restores the window, not the phase: the next gain of 1.25 comes in its turn",
}
"""Reasons for the cases that fail, by algorithm and case: a change that removes the failure, or a rule of version 1."""

INTRODUCTION = """\
The appendix of draft-ietf-ccwg-bbr (working copy of August 2026, commit 4ce5e87d) describes 22 test cases in words.
`lightlag validate bbr --congestion NAME` builds each as a scenario and compares it with criteria: the draft's numbers
where it has some, otherwise a bound of our own with its reason, which the page of each run states. Version 3 (`bbr3`)
implements the draft; version 1 (`bbr`) is older, so that its cases show the differences between the versions. A
custom algorithm without states is measured by its window, goodput, losses and recoveries; the other cases do not
apply to it.

An event that depends on a phase, such as losses at the start of PROBE_UP, is placed by an earlier run with the same
seed, which is equal until the event. TCP is Linux's without segmentation offload (`tso = false`). Values are means
over three seeds; ± is the half width of their 95 % interval. Paths have 20 µs of jitter, so that seeds differ. Some
cases differ from the draft's words:

- **Exiting DRAIN based on time.** The draft lowers the bandwidth by 10 %. That does not keep the flight above the
  BDP: DRAIN then ends after one round. The rate falls by 55 % instead.
- **Exiting PROBE_UP on loss when application-limited.** The appendix expects an update of `inflight_longterm`; the
  pseudocode (HandleInflightTooHigh) leaves the bound unchanged for application-limited samples. Only the transition
  is checked.
- **Never exiting PROBE_UP.** The appendix expects that the flow stays there indefinitely; CheckProbeRTT enters
  PROBE_RTT from every state. PROBE_RTT is accepted.
- **Aggregation** is a return link that opens for 1 ms in every 40 ms. **The policer** is a key of
  the link (`police`), a token bucket without a buffer. **Spurious timeouts** come from a link that
  holds its packets for 0.6 s.
- **Our bounds** follow from constants of the draft. Eight were corrected after the first comparison, because scenario
  or count was wrong: DRAIN and PROBE_DOWN may start and end in one ACK if an application-limited flow has little in
  flight; three rounds of PROBE_UP may measure 2.95; PROBE_RTT has a path without jitter, as a sample that is 1 ns
  smaller delays it, and a bound of 5.1 s instead of 5.5 s; goodput with aggregation leaves out PROBE_RTT with its
  data; the estimate after an undo has no upper bound; the fall of the bandwidth comes 0.5 s into CRUISE, and its
  rounds count from the first detected loss, 9 instead of 8; its expiry counts probes instead of 8 s; steps of
  `inflight_longterm` count only while it limits the window.
- `inflight_longterm`, `bw_shortterm` and `extra_acked` are not recorded; the window and the estimated bandwidth that
  they limit or raise are checked.
"""


def assessments() -> dict[str, Assessment]:
    """Returns the assessments of both versions."""
    return {name: validation.bbr(name) for name in ALGORITHMS}


def page(found: Mapping[str, Assessment]) -> str:
    """Returns the page as Markdown."""
    counts = [f"{name}: {_count(one)}" for name, one in found.items()]
    head = f"# BBR's test cases\n\n**{'; '.join(counts)}.**\n\nWritten by `make bbr-cases`, "
    head += f"version {_engine.__version__}.\n"
    summary = [
        (CASES[name].title, *(_verdict(one, name) for one in found.values()), _reasons(found, name)) for name in CASES
    ]
    rows = []
    for name, case in CASES.items():
        for number, check in enumerate(case.checks):
            cells = [_cell(one, name, number) for one in found.values()]
            rows.append((case.title if number == 0 else "", check.text, check.expected, *cells))
    parts = [
        head,
        INTRODUCTION,
        "## Verdicts\n",
        markdown_table(("case", *found, "reason of a failure"), summary),
        "## Values\n",
        markdown_table(("case", "quantity", "expected", *found), rows),
        "## Figures\n\nOne run of `bbr3` each, with seed 1. `lightlag validate bbr` writes a figure of every case.\n",
        *(f"![{CASES[name].title}](images/bbr-{name}.png)\n" for name in FIGURES),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _count(found: Assessment) -> str:
    """Returns the number of cases that hold, in words."""
    verdicts = [one.holds for one in found.sections if one.name in CASES and one.holds is not None]
    return f"{sum(verdicts)} of {len(verdicts)} cases hold"


def _verdict(found: Assessment, name: str) -> str:
    section = found.section(name)
    assert section is not None, name
    return {True: "holds", False: "**fails**", None: "not applicable"}[section.holds]


def _reasons(found: Mapping[str, Assessment], name: str) -> str:
    """Returns the reasons of the versions that fail a case."""
    failing = [label for label, one in found.items() if _verdict(one, name) == "**fails**"]
    return " ".join(f"{label}: {REASONS.get((label, name), 'unexplained')}." for label in failing)


def _cell(found: Assessment, name: str, number: int) -> str:
    """Returns mean, half width and verdict of a check."""
    section = found.section(name)
    assert section is not None, name
    row = section.rows[number]
    if row["verdict"] == "not applicable":
        return "–"
    if row["measured"] != row["measured"]:
        return "did not occur, **fails**"
    half = row[f"measured{HALF}"]
    value = f"{row['measured']:.4g}" + (f" ± {half:.2g}" if half > 1e-6 * abs(row["measured"]) else "")
    return f"{value}, **fails**" if row["verdict"] == "fails" else value


def write(found: Mapping[str, Assessment]) -> None:
    """Writes the page, its figures and the index of pages."""
    write_text(PAGE, page(found))
    write_text(pages.index_of(PAGE.parent), pages.index(PAGE.parent))
    drawn = figures(found["bbr3"])
    for name in FIGURES:
        drawn[name].save(PAGE.parent / "images" / f"bbr-{name}.png")


if __name__ == "__main__":
    write(assessments())
