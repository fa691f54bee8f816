"""A row in the table of checks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A measured quantity, compared with its expected value.

    Attributes
    ----------
    reference
        The measured quantity, and the source of the theory.
    point
        The parameters of this point.
    command
        The command that makes the measurement.
    ours, theory
        Our value and the expected value as text, with their unit.
    deviation
        The deviation of our value from the expected value.
    holds
        Whether the deviation is within the tolerance; None if the theory is given for comparison only.
    tolerance
        The tolerance, and remarks.
    """

    reference: str
    point: str
    command: str
    ours: str
    theory: str
    deviation: str
    holds: bool | None
    tolerance: str

    @property
    def verdict(self) -> str:
        """The verdict as text."""
        return {True: "holds", False: "**does not hold**", None: "for comparison"}[self.holds]


def against(
    reference: str, point: str, command: str, ours: float, theory: float, *, unit: str, tolerance: float, note: str = ""
) -> Check:
    """Returns a check that compares two values by their relative deviation."""
    deviation = ours / theory - 1
    limit = f"±{tolerance:.1%}" if tolerance < 0.01 else f"±{tolerance:.0%}"
    return Check(
        reference,
        point,
        command,
        f"{ours:.5g} {unit}".strip(),
        f"{theory:.5g} {unit}".strip(),
        f"{deviation:+.2%}",
        abs(deviation) <= tolerance,
        f"{limit}{'; ' if note else ''}{note}",
    )
