"""Requests to the server of the studio: tasks, messages to the engine, places, and tables of results."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from bad_inputs.case import Case
from conftest import PAIR
from lightlag.studio import reading
from lightlag.studio.messages import TYPES, check_types
from lightlag.studio.places import Places
from lightlag.studio.tasks import prepared

NESTED = [[[[]]]]
RUN = {"op": "run", "id": 1, "scenario": PAIR}
COMPARE = {"op": "compare", "id": 1, "scenarios": [PAIR], "congestion": ["cubic"]}
WRONG = {
    "scenario": (None, 5, [], "", "a = [", "name = 3\n", "\x00", PAIR.replace("5 Mbit/s", "fast")),
    "scenarios": (None, 5, [], [5], PAIR, [""], [PAIR] * 1000),
    "format": ("json",),
    "files": (5, [], "x", {"a": 5}, {"a": "no base 64!"}, {"../a": ""}),
    "base": (5, "", "9/x", "../x", "0/none", "0/../..", "x"),
    "seeds": (5, "x", [-1], ["x"], [1.5], [True], [2**63], list(range(100_000))),
    "seed": (-1, "x", 1.5, True, 2**63),
    "sets": (5, "x", [5], [["a"]], [["a", 1, 2]], {"links.9.rate": 1}, [["links.0.loss", 7]]),
    "duration": (5, [], True, "soon", "-1 s"),
    "threads": (0, -1, "x", 1.5, True, 10**9),
    "jobs": (0, -1, "x", 1.5, True, 10**9),
    "congestion": (5, [5], [{"python": "mine.py:Mine"}], [{"plugin": "lib.so"}], ["mine.py:Mine"]),
    "vary": (5, "x", [], {"links.0.queue": [{"python": "a.py:B"}]}),
    "replications": (0, -1, "x", 1.5, True, 10**9),
    "carrot": (1,),
}
"""Values of the keys of a task that are refused before it starts."""
LATER = {
    ("sets", 5),
    ("sets", 6),
    ("duration", 3),
    ("duration", 4),
    ("scenario", 3),
    ("scenario", 5),
    ("scenario", 7),
    ("files", 5),
}
"""Values that the process of the task refuses, by their number: it reads the scenario."""
CODE = (
    "flows.0.congestion={ python = 'a.py:B' }",
    "flows.0.congestion={ plugin = 'a.so' }",
    "links.0.queue={ python = 'a.py:B' }",
    "flows.0.traffic={ python = 'a.py:B' }",
)


def requests(kept: Path) -> Iterator[Case]:
    places = Places.of([kept.parent])

    def case(name: str, call: object, *parts: str) -> Case:
        return Case(name, call=call, parts=parts)

    for (base, task), (key, values) in itertools.product((("run", RUN), ("compare", COMPARE)), WRONG.items()):
        others = {"run": ("scenarios", "seed", "congestion", "vary", "replications"), "compare": ("scenario", "seeds", "threads")}  # fmt: skip
        if key in others[base]:
            yield case(
                f"{base} with {key}", lambda t=task | {key: 1}: prepared(t, places, None), key, "is not a key of"
            )
            continue
        for at, value in enumerate(values):
            if (key, at) in LATER or (key == "scenarios" and value == [""]):
                continue
            yield case(f"{base}: {key} {at}", lambda t=task | {key: value}: prepared(t, places, None))
    for study in (None, 5, "", "0/none", "../x", "0/pair", "0/pair/run.json"):
        task = {"op": "study", "id": 1, "study": study}
        yield case(f"study: {study!r}", lambda t=task: prepared(t, places, None))
    for change in CODE:
        key, _, value = change.partition("=")
        yield case(f"sets: {change}", lambda k=key, v=value: prepared(RUN | {"sets": [[k, v]]}, places, None))
    wrong = (5, "x", [], {"a": 1}, True, -1, 1.5, [5], {"a": 5}, NESTED)
    for key, (is_right, wanted) in TYPES.items():
        for at, value in enumerate(wrong):
            if not is_right(value):
                yield case(f"message {key}: {at}", lambda k=key, v=value: check_types({k: v}), f"{key}: ", wanted)
    for place in (None, 5, "", "x", "9/pair", "0/../pair", "0/.hidden", "0//pair", "0/none", "0\\pair", "0/" + "x" * 5000, "00000/pair", "0/pa\x00ir", "-1/pair", "٣/pair"):  # fmt: skip
        yield case(f"place {place!r:.20}", lambda p=place: places.find(p))
        yield case(f"summary of {place!r:.20}", lambda p=place: reading.summary(places, p))
        yield case(f"report of {place!r:.20}", lambda p=place: reading.report(places, p))
    for of in ("", "carrot", "../flows", "runs", "flows.parquet", "summary"):
        yield case(f"table {of!r}", lambda o=of: reading.table(places, "0/pair", o, 0, 1, []), of)
    for column in ("", "carrot", "flow; drop"):
        yield case(f"column {column!r}", lambda c=column: reading.table(places, "0/pair", "flows", 0, 1, [c]), column)
    for folder in ("none", "pair.toml"):
        yield case(f"--folder {folder}", lambda f=folder: Places.of([kept, Path(f)]), folder)
    for arguments in (("studio", "--folder", "pair.toml"), ("studio", "geo", "--folder", "pair.toml")):  # fmt: skip
        yield Case(" ".join(arguments), (*arguments, "--no-browser"), parts=(arguments[-1],))
    for port in ("-1", "65536", "x", "1.5", ""):
        yield Case(f"--port {port}", ("studio", "--port", port), parts=("--port",), usage=True)
