"""The exceptions of lightlag."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightlag._compiled import located
from lightlag._engine import ScenarioError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.captures.connections import Capture
    from lightlag.comparison.comparison import Comparison
    from lightlag.results.result import Result
    from lightlag.validation import Assessment

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
    """Invalid input. The message names the key, the value and the fix."""


class FolderError(InputError, OSError):
    """A directory that results cannot be written to; this is found before the run."""


class BusyError(FolderError):
    """A directory that another process is writing to."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run, a comparison, a validation or the reading of a capture; ``result`` holds the
    finished part.
    """

    def __init__(self, result: Result | Comparison | Capture | Assessment) -> None:
        super().__init__("interrupted; the records are in .result")
        self.result = result


class AlgorithmError(RuntimeError):
    """A custom algorithm has failed, which ended a run.

    The message has the traceback of the algorithm, or its invalid values; the flow or the link, the simulated time, and
    the last ACKs or packets. For a single run, ``result`` holds everything recorded so far.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result

    @classmethod
    def of(cls, failed: tuple[str, float, str], result: Result | None = None, run: str = "") -> AlgorithmError:
        """Returns the exception for a failure that the engine reports as the flow or link, simulated seconds, and the
        cause.
        """
        part, at_s, message = failed
        message = located(message)
        return cls(f"{run}{printable(part)}, at {at_s:.6f} s: {message}", result)


class CommandError(Exception):
    """The end of a command by an error: exit code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def scenario_error(errors: list[tuple[str, str]], source: str) -> ScenarioError:
    """Returns a :class:`ScenarioError` whose lines name the file."""
    lines = (f"{source}: {path}: {message}" if path else f"{source}: {message}" for path, message in errors)
    error = ScenarioError("\n".join(map(_with_key, lines)))
    error.errors = errors
    return error


def _with_key(line: str) -> str:
    """Completes an error about a key of a link with the key of the slowest link, as ``--set`` takes it.

    Examples
    --------
    >>> _with_key("rate belongs to links[0] to links[1]; the slowest is links[1]")
    'rate belongs to links[0] to links[1]; the slowest is links[1], so write links.1.rate'
    """
    if found := re.search(r"(\w+) (?:and )?belongs to links\[0\].*; the slowest is links\[(\d+)\]$", line):
        return f"{line}, so write links.{found[2]}.{found[1]}"
    if found := re.search(r"(\w+) belongs to the table defaults\.congestion\[\], which .*$", line):
        key = f"defaults.tcp.congestion.{found[1]}"
        return f"{line[: found.start()]}{found[1]} is a parameter of algorithms, so write {key}"
    return line


def __dir__() -> list[str]:
    return sorted(__all__)
