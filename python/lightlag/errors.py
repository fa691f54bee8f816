"""What can go wrong, for those who catch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightlag._engine import ScenarioError

if TYPE_CHECKING:
    from lightlag.captures import Capture
    from lightlag.comparison import Comparison
    from lightlag.results import Result

__all__ = ["FolderError", "InputError", "Interrupted", "ScenarioError"]


class InputError(ValueError):
    """Something asked for that cannot be: one message with place, value and remedy."""


class FolderError(InputError, OSError):
    """A place where results cannot be written, found before anything is run."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run, a comparison or the reading of a capture; ``result`` holds what there was until then."""

    def __init__(self, result: Result | Comparison | Capture) -> None:
        super().__init__("interrupted; what was recorded is in .result")
        self.result = result


def scenario_error(errors: list[tuple[str, str]], source: str) -> ScenarioError:
    """A :class:`ScenarioError` whose lines say which file they are about."""
    lines = (f"{source}: {path}: {message}" if path else f"{source}: {message}" for path, message in errors)
    error = ScenarioError("\n".join(lines))
    error.errors = errors
    return error
