"""A question of a lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lightlag.course.runs import Runs

__all__ = ["Number", "Question"]

Number = Callable[[Runs], float]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a lab. One with options is a choice; one with a measurement is a number; any other is a keyword."""

    id: str
    """Its key in a file with answers, such as ``q3``."""
    ask: str
    """Text for students."""
    hint: str
    """Printed for a wrong value. It names the chart or the formula to use, and not the value."""
    reason: str
    """Derivation, and the reason for a deviation from theory: for teachers."""
    measured: Number | None = None
    """Computes the right number from runs, in the unit of the question."""
    theory: Number | None = None
    """Computes the number of the theory."""
    formula: str = ""
    """The formula of the theory."""
    unit: str = ""
    within: float = 0.05
    """Tolerance as a fraction of the right number."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Letters of a choice, each with its text."""
    chosen: Callable[[Runs], str] | None = None
    """Computes the right letter or name from runs."""
    words: tuple[str, ...] = ()
    """Names that may be given."""
    required: Callable[[Runs], bool] | None = None
    """Whether the class of a student meets a requirement. Such a question has no answer in the file."""
    errors: str = ""
    """Common errors: for teachers."""
    points: int = 1

    @property
    def form(self) -> str:
        """Form of a valid value."""
        if self.required is not None:
            return "checked with your class"
        if self.options:
            return "one of " + ", ".join(f'"{letter}"' for letter in self.options)
        if self.words:
            return "one of " + ", ".join(self.words)
        percent = f"{100 * self.within:g} %"
        return f"a number in {self.unit}, within {percent}" if self.unit else f"a number, within {percent}"
