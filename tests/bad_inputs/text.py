"""Files that are not text, not TOML or not JSON."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import json
from collections.abc import Iterator

from bad_inputs.case import Case, tree
from conftest import PAIR


def texts() -> Iterator[Case]:
    lines = PAIR.splitlines()
    for at, line in enumerate(lines):
        if "=" in line:
            key = line.split("=")[0].strip()
            for name, broken in (
                ("no value", f"{key} ="),
                ("no equals", line.replace("=", " ", 1)),
                ("two equals", line.replace("=", "= =", 1)),
                ("an open text", f'{key} = "open'),
                ("twice", f"{line}\n{line}"),
            ):
                text = "\n".join([*lines[:at], broken, *lines[at + 1 :]])
                parts = ("wrong.toml: line", "not TOML")
                yield Case(f"{name}: {key} {at}", ("run", "wrong.toml"), files=(("wrong.toml", text),), parts=parts)
    for at in range(10, len(PAIR) - 2, 9):
        data = PAIR.encode()[:at] + b"\xff" + PAIR.encode()[at:]
        parts = ("wrong.toml: ", f"byte {at} is not UTF-8", "save the file as UTF-8")
        files = (("wrong.toml", data),)
        yield Case(f"byte {at}", ("run", "wrong.toml"), files=files, parts=parts, mistake="a byte that is not UTF-8")
    for name, data in (("empty", b""), ("a blank", b" \n"), ("a comment", b"# nothing\n"), ("a zero", b"\0")):
        yield Case(name, ("run", "wrong.toml"), files=(("wrong.toml", data),), parts=("wrong.toml: ",))
    for name in ("nowhere.toml", "no/where.toml", "x" * 300, "carrot", "geo.tml", "pair.toml/x", ""):
        yield Case(f"file {name:.20}", ("run", name), parts=())


def jsons() -> Iterator[Case]:
    text = json.dumps(tree())

    def case(name: str, broken: str | bytes, *parts: str, mistake: str = "") -> Case:
        parts = ("wrong.json: ", *parts)
        return Case(name, ("run", "wrong.json"), files=(("wrong.json", broken),), parts=parts, mistake=mistake)

    for at in range(1, len(text) - 1, max(1, len(text) // 40)):
        yield case(f"cut at {at}", text[:at], "line 1, column", "not JSON", mistake="JSON that is cut")
    for key in (
        "name",
        "duration",
        "seed",
        "links",
        "flows",
        "between",
        "rate",
        "delay",
        "queue",
        "loss",
        "from",
        "to",
    ):
        twice = text.replace(f'"{key}":', f'"{key}": 1, "{key}":', 1)
        yield case(f"{key} twice", twice, f'the key "{key}" is duplicated; remove one')
    for whole in (
        "null",
        "[]",
        "7",
        '"text"',
        "true",
        "[[]]",
        "NaN",
        "Infinity",
        "-",
        "{]",
        "{,}",
        "{'a': 1}",
        "{a: 1}",
    ):
        yield case(whole, whole)
    for tail in ("x", "{}", ",", "]", "//", "\x00"):
        yield case(f"tail {tail!r}", text + tail, "not JSON")
    yield case("deep", "[" * 5000, "not JSON")
    yield case("halves", text.replace("client", "\\ud800"), "not JSON")
    yield case("numbers", text.replace("0.001", "1e999"), "not JSON")
