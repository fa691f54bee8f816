"""One row of the table of judges."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judgement:
    """A quantity that lightlag measured, beside what it must be.

    Attributes
    ----------
    judge
        What is compared, and where the theory comes from.
    point
        The parameters of this point.
    command
        What makes the measurement.
    ours, theory
        The two values as text, with their unit.
    deviation
        How far they are apart.
    holds
        Whether the deviation is within the tolerance; None where the theory is given for comparison only.
    tolerance
        The tolerance, and what else has to be said.
    """

    judge: str
    point: str
    command: str
    ours: str
    theory: str
    deviation: str
    holds: bool | None
    tolerance: str

    @property
    def verdict(self) -> str:
        """The verdict as a word."""
        return {True: "holds", False: "**does not hold**", None: "for comparison"}[self.holds]


def against(
    judge: str, point: str, command: str, ours: float, theory: float, *, unit: str, tolerance: float, note: str = ""
) -> Judgement:
    """A judgement by relative deviation."""
    deviation = ours / theory - 1
    limit = f"±{tolerance:.1%}" if tolerance < 0.01 else f"±{tolerance:.0%}"
    return Judgement(
        judge,
        point,
        command,
        f"{ours:.5g} {unit}".strip(),
        f"{theory:.5g} {unit}".strip(),
        f"{deviation:+.2%}",
        abs(deviation) <= tolerance,
        f"{limit}{'; ' if note else ''}{note}",
    )
