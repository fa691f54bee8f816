"""A question of a lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lightlag.course.runs import Runs

__all__ = ["Number", "Question"]

Number = Callable[[Runs], float]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a lab. One with options is a choice; one with a measurement is a number; any other is a word."""

    id: str
    """Its key in a file with answers, such as ``q3``."""
    ask: str
    """What students read."""
    hint: str
    """What a wrong answer prints. It names where to look, and not the answer."""
    reason: str
    """Why the answer is right, and why it deviates from theory: for teachers."""
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
    """Computes the right letter from runs."""
    words: tuple[str, ...] = ()
    """Accepted words; the first one is shown in solutions."""
    required: Callable[[Runs], bool] | None = None
    """Whether the class of a student meets a requirement. Such a question has no answer in the file."""
    mistakes: str = ""
    """Common mistakes: for teachers."""
    points: int = 1

    @property
    def form(self) -> str:
        """How an answer is written."""
        if self.required is not None:
            return "checked with your class"
        if self.options:
            return "one of " + ", ".join(f'"{letter}"' for letter in self.options)
        if self.words:
            return "one word"
        percent = f"{100 * self.within:g} %"
        return f"a number in {self.unit}, within {percent}" if self.unit else f"a number, within {percent}"
