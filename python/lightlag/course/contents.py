"""A lab of the course."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lightlag.course.question import Question

__all__ = ["Lab", "scenario_text", "template_text"]


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab: its scenarios and its questions."""

    name: str
    title: str
    about: str
    """Aim of the lab, in one sentence."""
    scenarios: tuple[str, ...]
    """Names of its scenario files, without their suffix."""
    questions: tuple[Question, ...]
    needs_algorithm: bool = False
    """Whether the answers name a class of the student."""
    starting: tuple[str, ...] = ()
    """Names of further files to start from."""

    def files(self) -> Mapping[str, str]:
        """Returns the files that students start from, by name."""
        named = {f"{name}.toml": scenario_text(name) for name in self.scenarios}
        return named | {name: template_text(name) for name in self.starting}


def scenario_text(name: str) -> str:
    """Returns the text of a scenario of the course."""
    return _text("scenarios", f"{name}.toml")


def template_text(name: str) -> str:
    """Returns the text of an algorithm in Python, such as ``mine.py``."""
    return _text("templates", f"{name}.txt")


def _text(folder: str, name: str) -> str:
    return (Path(__file__).parent / folder / name).read_text("utf-8")
