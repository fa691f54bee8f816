"""Algorithms of a user's own that cannot be run: files of Python, compiled classes, and libraries."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bad_inputs.case import Case

HEAD = "import lightlag as ll\n\n\n"
BASES = {
    "CongestionControl": ("on_ack", "on_congestion"),
    "QueueDiscipline": ("on_enqueue",),
    "LossResponse": ("on_loss",),
    "Traffic": ("next_message",),
    "Router": ("next_hops",),
}
"""The classes to derive from, each with methods that it calls."""
OF_A_FLOW = ("-c", "mine.py:Mine")
PLACES = {
    "CongestionControl": "flows.0.congestion",
    "QueueDiscipline": "links.0.queue",
    "LossResponse": "flows.0.tcp.loss_assumption",
    "Traffic": "flows.0.traffic",
}
"""Keys of a scenario that take such a class."""


def algorithms() -> Iterator[Case]:
    yield from _files()
    yield from _methods()
    yield from _parameters()
    yield from _libraries()


def _case(name: str, text: str | bytes, *parts: str, place: str = "flows.0.congestion") -> Case:
    arguments = ("run", "pair.toml", "-s", f"{place}={{ python = 'mine.py:Mine' }}")
    return Case(name, arguments, files=(("mine.py", text),), parts=parts or ("mine.py",))


def _files() -> Iterator[Case]:
    for base, place in PLACES.items():
        for name, text, part in (
            ("empty", "", "no class Mine"),
            ("a mistake of grammar", "class Mine(:\n", "line 1"),
            ("a name that is not there", f"{HEAD}print(missing)\n", "line 4"),
            ("an import that fails", "import nothing_of_this_name\n", "nothing_of_this_name"),
            ("an exception", "1 / 0\n", "line 1"),
            ("an exit", "raise SystemExit(3)\n", "line 1"),
            ("a number", "Mine = 3\n", "3 is not a subclass"),
            ("a class of nothing", "class Mine:\n    pass\n", "is not a subclass"),
            ("the class itself", f"{HEAD}Mine = ll.CongestionControl\n", "is not a subclass"),
            ("no method", f"{HEAD}class Mine(ll.{base}):\n    pass\n", "has n"),
            ("bytes", b"\xff\xfe\x00", "mine.py"),
            ("a byte of zero", "class Mine:\n    \0\n", "mine.py"),
        ):
            if base in ("LossResponse", "Traffic") and not hasattr(__import__("lightlag"), base):
                continue
            yield _case(f"{base}: {name}", text, part, place=place)
        for value in ("none.py:Mine", "mine.py", ":Mine", "mine.py:", "mine.py:a b", ".:Mine", "", "pair.toml:Mine"):
            arguments = ("run", "pair.toml", "-s", f"{place}={{ python = '{value}' }}")
            yield Case(
                f"{base}: python={value}", arguments, files=(("mine.py", ""),), parts=(place.rsplit(".", 1)[-1],)
            )
    for value in ("none.py:Mine", "mine.py", "mine.py:", "mine.py:Other"):
        yield Case(f"-c {value}", ("run", "pair.toml", "-c", value), files=(("mine.py", ""),))
        yield Case(f"compare -c {value}", ("compare", "pair.toml", "-c", value), files=(("mine.py", ""),))


def _methods() -> Iterator[Case]:
    for base, methods in BASES.items():
        place = PLACES.get(base)
        if place is None or base in ("LossResponse", "Traffic"):
            continue
        whole = "".join(f"    def {name}(self, it):\n        return 0\n\n" for name in methods)
        for name in methods:
            method = f"    def {name}(self, it):\n        return 0\n"
            for fault, changed, part in (
                ("async", f"    async def {name}(self, it):\n        return 0\n", "is async"),
                ("a generator", f"    def {name}(self, it):\n        yield 0\n", "has a yield"),
                ("no argument", f"    def {name}(self):\n        return 0\n", "takes (self)"),
                ("nothing at all", f"    def {name}():\n        return 0\n", "takes ()"),
                ("three", f"    def {name}(self, a, b):\n        return 0\n", "takes"),
                (
                    "a static method",
                    f"    @staticmethod\n    def {name}(it):\n        return 0\n",
                    "is a static method",
                ),
                (
                    "a class method",
                    f"    @classmethod\n    def {name}(cls, it):\n        return 0\n",
                    "is a class method",
                ),
                ("a property", f"    @property\n    def {name}(self):\n        return 0\n", "is a property"),
                ("a number", f"    {name} = 3\n", name),
            ):
                text = f"{HEAD}class Mine(ll.{base}):\n{whole.replace(method, changed)}"
                yield _case(f"{base}.{name}: {fault}", text, f"Mine.{name}", part, place=place)


def _parameters() -> Iterator[Case]:
    methods = "    def on_ack(self, ack):\n        pass\n\n    def on_congestion(self, event):\n        pass\n"
    for name, line, part in (
        ("a text", 'word: str = ll.parameter("x")', "word"),
        ("a list", "word: list = ll.parameter([1])", "word"),
        ("a default below", "gain: float = ll.parameter(-1.0, min=0.0)", "gain"),
        ("a default above", "gain: float = ll.parameter(2.0, max=1.0)", "gain"),
        ("a range that is empty", "gain: float = ll.parameter(0.5, min=1.0, max=0.0)", "gain"),
        ("no number", "gain: float = ll.parameter(float('nan'))", "gain"),
        ("a name of the base", "cwnd: float = ll.parameter(2.0)", "cwnd"),
        ("no annotation", "gain = ll.parameter(2.0)", "gain"),
        ("a fraction as whole", "count: int = ll.parameter(1.5)", "count"),
    ):
        yield _case(f"parameter: {name}", f"{HEAD}class Mine(ll.CongestionControl):\n    {line}\n\n{methods}", part)
    good = (
        f"{HEAD}class Mine(ll.CongestionControl):\n    gain: float = ll.parameter(0.5, min=0.0, max=1.0)\n\n{methods}"
    )
    for key, value in (
        ("gain", "2"),
        ("gain", "-1"),
        ("gain", "'x'"),
        ("gain", "nan"),
        ("gain", "true"),
        ("gian", "0.5"),
    ):
        choice = f"{{ python = 'mine.py:Mine', {key} = {value} }}"
        arguments = ("run", "pair.toml", "-s", f"flows.0.congestion={choice}")
        yield Case(f"{key}={value}", arguments, files=(("mine.py", good),), parts=(key,))
    text = good.replace("    gain:", "    name = 'no name'\n    gain:")
    yield _case("a name with a blank", text, "name: 'no name'")
    both = "{ python = 'mine.py:Mine', plugin = 'lib.so' }"
    arguments = ("run", "pair.toml", "-s", f"flows.0.congestion={both}")
    yield Case("python and plugin", arguments, files=(("mine.py", good),), parts=("both name",))


def _libraries() -> Iterator[Case]:
    elf = Path(sys.executable).resolve().read_bytes()[:4096]
    for key in ("flows.0.congestion", "links.0.queue", "flows.0.traffic", "flows.0.tcp.loss_assumption"):
        for name, content in {
            "text": "no library",
            "empty": "",
            "the start of one": elf,
            "four bytes": elf[:4],
            "another machine": elf[:18] + b"\xff\xff" + elf[20:],
            "zeros": bytes(4096),
        }.items():
            arguments = ("run", "pair.toml", "-s", f"{key}={{ plugin = 'lib.so' }}")
            yield Case(f"{key} {name}", arguments, files=(("lib.so", content),), parts=("lib.so",))
        for value in ("none.so", ".", "", "pair.toml"):
            arguments = ("run", "pair.toml", "-s", f"{key}={{ plugin = '{value}' }}")
            yield Case(f"{key} plugin={value}", arguments, parts=(key.rsplit(".", 1)[-1],))
    yield Case("-c none.so", ("run", "pair.toml", "-c", "none.so"), parts=("none.so",))
