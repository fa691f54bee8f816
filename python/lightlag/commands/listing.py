"""``lightlag list``: the names of models, profiles, scenarios and papers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from lightlag.errors import InputError
from lightlag.text.terminal import meant, print_json

LISTS = ("congestion", "queues", "profiles", "scenarios", "papers")
SYNONYMS = {
    **dict.fromkeys(("algorithms", "algorithm", "congestion-control", "congestion controls", "cc"), "congestion"),
    **dict.fromkeys(("presets", "preset", "scenario"), "scenarios"),
    **dict.fromkeys(("queue", "disciplines", "aqm"), "queues"),
    **dict.fromkeys(("profile",), "profiles"),
    **dict.fromkeys(("paper",), "papers"),
}
"""Alternative names of the lists."""


def list_(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="congestion, queues, profiles, scenarios or papers.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: the entries, each with name and about.")
    ] = False,
) -> None:
    """List the names of congestion controls, queues, profiles, scenarios or papers."""
    what = SYNONYMS.get(what, what)
    if what not in LISTS:
        others = '; "lightlag explain NAME" describes models, keys, columns and warnings'
        raise InputError(f'cannot list "{what}"; {meant(what, LISTS)}name one of {", ".join(LISTS)}{others}')
    found = entries(what)
    if as_json:
        print_json({what: [{"name": name, "about": about} for name, about in found.items()]})
        return
    width = max(map(len, found), default=0)
    for name, about in found.items():
        print(f"{name:{width}}  {about}")


def entries(what: str) -> dict[str, str]:
    """Returns the entries of a list: each name with a description in one sentence."""
    from lightlag.words import explain

    named: dict[str, Callable[[], dict[str, str]]] = {
        "congestion": lambda: explain.first_sentences(explain.algorithms()),
        "queues": lambda: explain.first_sentences(explain.queues()),
        "profiles": lambda: explain.first_sentences(explain.profiles()),
        "scenarios": lambda: explain.first_sentences(explain.presets()),
        "papers": _papers,
    }
    return named[what]()


def _papers() -> dict[str, str]:
    from lightlag.commands.papers import papers

    return {name: paper.title for name, paper in papers().items()}
