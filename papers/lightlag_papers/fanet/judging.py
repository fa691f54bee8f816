"""Judges every reading as a whole, and shows the one that fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightlag_papers.fanet.claims import CLAIMS, FIGURES, Claim, Finding
from lightlag_papers.fanet.readings import QUESTIONS, READINGS, Outcomes, Reading, evidence
from lightlag_papers.fanet.setting import RADIOS
from lightlag_papers.table import Layout, Row, Verdict

HOLDS, FAILS = "+", "-"


@dataclass(frozen=True)
class Judgement:
    """The verdicts on all claims under one reading.

    Attributes
    ----------
    reading
        The reading.
    findings
        By the keys of the claims; there is one for each claim.
    """

    reading: Reading
    findings: Mapping[str, Finding]

    @property
    def reproduced(self) -> int:
        """Number of claims that hold."""
        return sum(finding.holds for finding in self.findings.values())

    def signs(self, figure: str) -> str:
        """A sign for each claim of a figure."""
        return "".join(HOLDS if self.findings[one.key].holds else FAILS for one in CLAIMS if one.figure == figure)


def judge(reading: Reading, outcomes: Outcomes) -> Judgement:
    """Judges every claim on the evidence of this reading alone."""
    seen = {varies: evidence(reading, varies, outcomes) for varies in ("nodes", "speed")}
    return Judgement(reading, {claim.key: claim.judge(seen[claim.varies]) for claim in CLAIMS})


def judge_all(outcomes: Outcomes, readings: Sequence[Reading] = READINGS) -> list[Judgement]:
    """Every reading, those that reproduce the most claims first; equal ones in the order of the readings."""
    return sorted((judge(reading, outcomes) for reading in readings), key=lambda one: -one.reproduced)


def rows(judgements: Sequence[Judgement]) -> list[Row]:
    """Every claim under the best reading, with the number of readings that reproduce it."""
    best = judgements[0]
    return [
        Row(
            claim.figure,
            f"{claim.key}: {claim.quantity}",
            claim.paper,
            "",
            best.findings[claim.key].text,
            Verdict.claim(best.findings[claim.key].holds),
            f"{claim.criterion}. {_share(claim, judgements)}",
        )
        for claim in CLAIMS
    ]


def _share(claim: Claim, judgements: Sequence[Judgement]) -> str:
    count = sum(one.findings[claim.key].holds for one in judgements)
    return f"Reproduced by {count} of {len(judgements)} readings" if count else "No reading reproduces it"


def table(judgements: Sequence[Judgement]) -> Layout:
    """Readings by claims."""
    keys = {figure: [claim.key for claim in CLAIMS if claim.figure == figure] for figure in FIGURES}
    header = (*QUESTIONS, "claims", *(f"{figure}: {those[0]} to {those[-1]}" for figure, those in keys.items()))
    lines = tuple(
        (*one.reading.words, f"{one.reproduced} of {len(CLAIMS)}", *map(one.signs, FIGURES)) for one in judgements
    )
    title = f"All {len(judgements)} readings by claims: {HOLDS} reproduced, {FAILS} not reproduced"
    return Layout("readings", title, header, lines)


def by_claim(judgements: Sequence[Judgement]) -> Layout:
    """Claims by the range of the radio, with the reading that fits best beside it."""
    header = ("claim", "", "best reading", *(radio.name for radio in RADIOS))
    lines = []
    for claim in CLAIMS:
        counts = []
        for radio in RADIOS:
            those = [one.findings[claim.key].holds for one in judgements if one.reading.ground.radio == radio]
            counts.append(f"{sum(those)} of {len(those)}")
        sign = HOLDS if judgements[0].findings[claim.key].holds else FAILS
        lines.append((claim.key, f"{claim.quantity}: {claim.paper}", sign, *counts))
    return Layout("claims", "Readings that reproduce each claim, by the range", header, tuple(lines))


def answers(judgements: Sequence[Judgement]) -> Layout:
    """The readings that give each answer: the claims that the best and the median of them reproduce."""
    lines = []
    for position, question in enumerate(QUESTIONS):
        for answer in dict.fromkeys(reading.words[position] for reading in READINGS):
            those = [one.reproduced for one in judgements if one.reading.words[position] == answer]
            if those:
                median = sorted(those)[len(those) // 2]
                lines.append((question, answer, str(max(those)), str(median), str(min(those))))
    title = f"Claims reproduced, of {len(CLAIMS)}, by the answer to each question"
    return Layout("answers", title, ("question", "answer", "best", "median", "worst"), tuple(lines))


def summary(judgements: Sequence[Judgement], swarms: int) -> str:
    """Names the best reading of `swarms` runs a point, and the claims that no reading reproduces."""
    best = judgements[0]
    equal = sum(one.reproduced == best.reproduced for one in judgements) - 1
    counts = sorted(one.reproduced for one in judgements)
    words = "; ".join(f"{question}: {answer}" for question, answer in zip(QUESTIONS, best.reading.words, strict=True))
    text = f"**The reading that fits best** reproduces {best.reproduced} of {len(CLAIMS)} claims: {words}"
    text += f" ({equal} more reproduce as many)" if equal else ""
    text += f". Each point is the mean of {swarms} swarm{'' if swarms == 1 else 's'}. The reading is the best of "
    text += f"{len(judgements)}, of which the median reproduces {counts[len(counts) // 2]} and the worst {counts[0]}."
    never = [claim for claim in CLAIMS if not any(one.findings[claim.key].holds for one in judgements)]
    if not never:
        return f"{text} Each claim is reproduced by some reading."
    named = "; ".join(f"{claim.key} {claim.quantity} ({claim.paper})" for claim in never)
    return f"{text} **No reading reproduces** {named}."
