"""Characters that would change a terminal, in every place that a message repeats."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from bad_inputs.case import Case, tree

CONTROLS = {
    "control": ("\x1b[31m", "\x07", "\x08", "\x0c", "\x7f", "\x9b", "\x85"),
    "direction": ("\u202e", "\u202a", "\u2066", "\u2069", "\u200e"),
    "nothing": ("\u200b", "\ufeff"),
    "line": ("\u2028",),
}
"""Characters by what a terminal makes of them; those of one kind are one mistake."""


def injected() -> Iterator[Case]:
    for kind, characters in CONTROLS.items():
        for bad in characters:
            for case in _everywhere(bad):
                yield replace(case, name=f"{case.name} {bad!a}", mistake=f"{case.name} {kind}")


def _everywhere(bad: str) -> Iterator[Case]:
    evil = f"a{bad}b"
    yield Case("file", ("run", evil))
    yield Case("set key", ("run", "pair.toml", "--set", f"{evil}=1"))
    yield Case("set value", ("run", "pair.toml", "--set", f"duration={evil}"), parts=("duration",))
    yield Case("set without", ("run", "pair.toml", "--set", evil), parts=("--set",))
    yield Case("node", ("run", "pair.toml", "--set", f"flows.0.to={evil}"), parts=("flows[0].to",))
    yield Case("name", ("run", "pair.toml", "--set", f"name={evil}/"), parts=("name",))
    yield Case("congestion", ("compare", "pair.toml", "-c", evil))
    yield Case("vary", ("compare", "pair.toml", "-c", "cubic", "--vary", f"links.0.loss={evil}"))
    yield Case("list", ("list", evil))
    yield Case("explain", ("explain", evil))
    yield Case("paper", ("reproduce", evil))
    yield Case("folder", ("plot", evil))
    yield Case("diff", ("diff", "geo", evil))
    yield Case("flag", ("run", f"--{evil}"), usage=True)
    yield Case("seed", ("run", "pair.toml", "--seed", evil), usage=True)
    yield Case("capture", ("inspect", evil))
    yield Case("key", ("check", "wrong.json"), files=(("wrong.json", json.dumps(tree() | {evil: 1})),))
    yield Case("label", ("compare", "pair.toml", "--vary", f"{evil}: seed=1,2"))
