"""The exceptions of lightlag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightlag._compiled import located
from lightlag._engine import ScenarioError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.captures.connections import Capture
    from lightlag.comparison.comparison import Comparison
    from lightlag.judge import Judgement
    from lightlag.results.result import Result

__all__ = [
    "AlgorithmError",
    "BusyError",
    "CommandError",
    "FolderError",
    "InputError",
    "Interrupted",
    "ScenarioError",
]


class InputError(ValueError):
    """Invalid input. The message names place, value and remedy."""


class FolderError(InputError, OSError):
    """A folder to which results cannot be written, found before the run."""


class BusyError(FolderError):
    """A folder to which another process is writing."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run, a comparison, a judgement or the reading of a capture; ``result`` holds what was finished."""

    def __init__(self, result: Result | Comparison | Capture | Judgement) -> None:
        super().__init__("interrupted; the records are in .result")
        self.result = result


class AlgorithmError(RuntimeError):
    """An algorithm of one's own has failed and so ended a run.

    The message has its traceback, or what it left wrong; the flow or the link, the simulated time, and the last ACKs or
    packets. ``result`` holds everything up to then, where it is a single run.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result

    @classmethod
    def of(cls, failed: tuple[str, float, str], result: Result | None = None, run: str = "") -> AlgorithmError:
        """The error of a failure as the engine tells it: the flow or link, simulated seconds, and what went wrong."""
        part, at_s, message = failed
        message = located(message)
        return cls(f"{run}{printable(part)}, at {at_s:.6f} s: {message}", result)


class CommandError(Exception):
    """The end of a command by an error: exit code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def scenario_error(errors: list[tuple[str, str]], source: str) -> ScenarioError:
    """A :class:`ScenarioError` whose lines name the file."""
    lines = (f"{source}: {path}: {message}" if path else f"{source}: {message}" for path, message in errors)
    error = ScenarioError("\n".join(lines))
    error.errors = errors
    return error
