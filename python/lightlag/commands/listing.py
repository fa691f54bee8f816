"""``lightlag list``: the names of models, profiles, scenarios and papers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer

from lightlag._text import plain
from lightlag.errors import InputError


def list_(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="congestion, queues, profiles, scenarios or papers.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: the entries, each with name and about.")
    ] = False,
) -> None:
    """List the names of congestion controls, queues, profiles, scenarios or papers."""
    from lightlag import _explain

    lists: dict[str, Callable[[], dict[str, str]]] = {
        "congestion": lambda: _explain.first_sentences(_explain.algorithms()),
        "queues": lambda: _explain.first_sentences(_explain.queues()),
        "profiles": lambda: _explain.first_sentences(_explain.profiles()),
        "scenarios": lambda: _explain.first_sentences(_explain.presets()),
        "papers": _papers,
    }
    if what not in lists:
        raise InputError(f'cannot list "{what}"; name one of {", ".join(lists)}')
    entries = lists[what]()
    if as_json:
        print(plain(json.dumps({what: [{"name": name, "about": about} for name, about in entries.items()]})))
        return
    width = max(map(len, entries), default=0)
    for name, about in entries.items():
        print(f"{name:{width}}  {about}")


def _papers() -> dict[str, str]:
    from lightlag.reproduce import PAPERS

    return {name: paper.title for name, paper in PAPERS.items()}
