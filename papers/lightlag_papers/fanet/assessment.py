"""Evaluation of every reading as a unit, and presentation of the best one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightlag_papers.fanet.claims import CLAIMS, FIGURES, Claim, Finding
from lightlag_papers.fanet.readings import QUESTIONS, READINGS, Outcomes, Reading, evidence
from lightlag_papers.fanet.setting import RADIOS
from lightlag_papers.table import Layout, Row

HOLDS, FAILS = "+", "-"


@dataclass(frozen=True)
class Assessment:
    """The verdicts on all claims under one reading.

    Attributes
    ----------
    reading
        The reading.
    findings
        The finding for each claim, by the claim's key.
    """

    reading: Reading
    findings: Mapping[str, Finding]

    @property
    def reproduced(self) -> int:
        """Number of claims that hold."""
        return sum(finding.holds for finding in self.findings.values())

    def signs(self, figure: str) -> str:
        """Returns a string with one sign for each claim of a figure."""
        return "".join(HOLDS if self.findings[one.key].holds else FAILS for one in CLAIMS if one.figure == figure)


def assess(reading: Reading, outcomes: Outcomes) -> Assessment:
    """Evaluates all claims with the evidence of this reading alone."""
    seen = {varies: evidence(reading, varies, outcomes) for varies in ("nodes", "speed")}
    return Assessment(reading, {claim.key: claim.evaluate(seen[claim.varies]) for claim in CLAIMS})


def assess_all(outcomes: Outcomes, readings: Sequence[Reading] = READINGS) -> list[Assessment]:
    """Returns the assessments of all readings, sorted by the number of claims that they reproduce, best first.

    Readings with equal numbers stay in their order.
    """
    return sorted((assess(reading, outcomes) for reading in readings), key=lambda one: -one.reproduced)


def rows(assessments: Sequence[Assessment]) -> list[Row]:
    """Returns the rows of all claims under the best reading, with the number of readings that reproduce each claim."""
    best = assessments[0]
    return [
        Row.claim(
            claim.figure,
            f"{claim.key}: {claim.quantity}",
            claim.paper,
            best.findings[claim.key].text,
            best.findings[claim.key].holds,
            f"{claim.criterion}. {_share(claim, assessments)}",
        )
        for claim in CLAIMS
    ]


def _share(claim: Claim, assessments: Sequence[Assessment]) -> str:
    count = sum(one.findings[claim.key].holds for one in assessments)
    return f"Reproduced by {count} of {len(assessments)} readings" if count else "No reading reproduces it"


def table(assessments: Sequence[Assessment]) -> Layout:
    """Returns the table of claims by readings."""
    keys = {figure: [claim.key for claim in CLAIMS if claim.figure == figure] for figure in FIGURES}
    header = (*QUESTIONS, "claims", *(f"{figure}: {those[0]} to {those[-1]}" for figure, those in keys.items()))
    lines = tuple(
        (*one.reading.words, f"{one.reproduced} of {len(CLAIMS)}", *map(one.signs, FIGURES)) for one in assessments
    )
    title = f"All {len(assessments)} readings by claims: {HOLDS} reproduced, {FAILS} not reproduced"
    return Layout("readings", title, header, lines)


def by_claim(assessments: Sequence[Assessment]) -> Layout:
    """Returns the table of claims: whether the best reading reproduces each, and how many readings per radio range."""
    header = ("claim", "", "best reading", *(radio.name for radio in RADIOS))
    lines = []
    for claim in CLAIMS:
        counts = []
        for radio in RADIOS:
            those = [one.findings[claim.key].holds for one in assessments if one.reading.ground.radio == radio]
            counts.append(f"{sum(those)} of {len(those)}")
        sign = HOLDS if assessments[0].findings[claim.key].holds else FAILS
        lines.append((claim.key, f"{claim.quantity}: {claim.paper}", sign, *counts))
    return Layout("claims", "Readings that reproduce each claim, by the range", header, tuple(lines))


def answers(assessments: Sequence[Assessment]) -> Layout:
    """Returns how many claims are reproduced with each value of an open setting: best, median and worst reading."""
    lines = []
    for position, question in enumerate(QUESTIONS):
        for answer in dict.fromkeys(reading.words[position] for reading in READINGS):
            those = [one.reproduced for one in assessments if one.reading.words[position] == answer]
            if those:
                median = sorted(those)[len(those) // 2]
                lines.append((question, answer, str(max(those)), str(median), str(min(those))))
    title = f"Claims reproduced, of {len(CLAIMS)}, by the value of each open setting"
    return Layout("answers", title, ("question", "answer", "best", "median", "worst"), tuple(lines))


def summary(assessments: Sequence[Assessment], swarms: int) -> str:
    """Returns a text with the best reading, from `swarms` runs per point, and the claims that no reading reproduces."""
    best = assessments[0]
    equal = sum(one.reproduced == best.reproduced for one in assessments) - 1
    counts = sorted(one.reproduced for one in assessments)
    words = "; ".join(f"{question}: {answer}" for question, answer in zip(QUESTIONS, best.reading.words, strict=True))
    text = f"**The best reading** reproduces {best.reproduced} of {len(CLAIMS)} claims: {words}"
    text += f" ({equal} more reproduce as many)" if equal else ""
    text += f". Each point is the mean of {swarms} swarm{'' if swarms == 1 else 's'}. The reading is the best of "
    text += f"{len(assessments)}, of which the median reproduces {counts[len(counts) // 2]} and the worst {counts[0]}."
    never = [claim for claim in CLAIMS if not any(one.findings[claim.key].holds for one in assessments)]
    if not never:
        return f"{text} Each claim is reproduced by some reading."
    return f"{text} **No reading reproduces** {', '.join(claim.key for claim in never)}."
