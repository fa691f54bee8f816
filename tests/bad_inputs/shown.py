"""Options of the commands that draw, report, lay side by side or look at a constellation."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from bad_inputs.case import Case

DRAWING = {
    "--format": ("gif", "", "PDF2", "jpeg"),
    "--style": ("carrot", "", "IEEE!"),
    "--width": ("5", "wide", "-1in", "0mm", "1e9in", "nanin", "5 parsec"),
    "--height": ("5", "high", "-1in", "0mm", "1e9in", "nanin"),
    "--font": ("No Such Font 7", ""),
}
"""Options of every figure, with values that they do not take."""
DRAWN = {
    "plot": ("plot", "kept"),
    "orbit": ("orbit", "iridium", "-o", "sky"),
}


def shown() -> Iterator[Case]:
    for (command, arguments), (option, values) in itertools.product(DRAWN.items(), DRAWING.items()):
        for value in values:
            yield Case(f"{command} {option}={value}", (*arguments, f"{option}={value}"))
    for metric in (
        "swarm",
        "airtime",
        "routes",
        "globe",
        "handovers",
        "bars",
        "completion",
        "cwnd,globe",
        ",",
        "cwnd,,rtt",
    ):
        yield Case(f"plot -m {metric}", ("plot", "kept", "-m", metric))
    for folders in (("kept", "nowhere"), ("nowhere", "kept"), ("kept", "pair.toml"), (".",), ("pair.toml",)):
        for command in ("plot", "report", "diff"):
            if len(folders) == (2 if command != "report" else 1):
                yield Case(f"{command} {' '.join(folders)}", (command, *folders))
    for out in ("a/b/c.docx", "x.gif", "x.mp4", "x.html", "pair.toml", ".pdf/"):
        yield Case(f"plot -o {out}", ("plot", "kept", "-o", out))
    for out in ("pair.toml", "x.pdf/y", "."):
        yield Case(f"report -o {out}", ("report", "kept", "-o", out), prepare=lambda: Path("x.pdf").write_text("mine"))
    yield Case("report of a store", ("report", "kept", "--store", "none", "-o", "x.html"), parts=("--store",))
    yield Case("plot of a store", ("plot", "kept", "--store", "none", "-o", "x.pdf"), parts=("--store",))
    yield from _orbits()
    yield from _commands()


def _orbits() -> Iterator[Case]:
    for option, values in {"--seconds": ("0", "-1", "nan", "inf", "x", "1e9", ""), "--at": ("-1", "nan", "inf", "x", "")}.items():  # fmt: skip
        for value in values:
            yield Case(f"orbit {option}={value}", ("orbit", "iridium", option, value), parts=(option,), usage=True)
    for pair in ("Oslo", "Oslo,Oslo", "Oslo,Atlantis", ",", "", "Oslo,Anchorage,Rome"):
        yield Case(f"orbit --pair {pair}", ("orbit", "iridium", "--pair", pair))
    for station in ("Atlantis", "", "oslo!"):
        yield Case(f"orbit --station {station}", ("orbit", "iridium", "--station", station))
    for scenario in ("geo", "pair.toml", "nowhere.toml", "."):
        yield Case(f"orbit {scenario}", ("orbit", scenario))
    for out in ("pair.toml", "pair.toml/x"):
        yield Case(f"orbit -o {out}", ("orbit", "iridium", "-o", out))


def _commands() -> Iterator[Case]:
    for threads in ("0", "-1", "x", "1.5", "many", ""):
        yield Case(f"run --threads {threads}", ("run", "pair.toml", "--threads", threads))
        yield Case(f"explain --threads {threads}", ("explain", "pair.toml", "--partitions", "--threads", threads))
    for name in ("carrot", "nowhere.toml", ""):
        yield Case(f"explain --partitions {name}", ("explain", name, "--partitions"))
    for acks in ("pair.toml", ".", "none/x.csv/y", "pair.toml/x"):
        yield Case(f"run --acks {acks}", ("run", "pair.toml", "-o", "out", "--acks", acks))
    for choice in ("cubik", "{", "{}", "{ algorithm = 'cubic', beta = 2 }", "x.py:Y", "x.so", ""):
        yield Case(f"run -c {choice}", ("run", "pair.toml", "-c", choice))
    for kind in ("carrot", ""):
        yield Case(f"new {kind}", ("new", kind, "mine"), usage=True)
    for command in ("run", "check", "compare"):
        for file in (".", "/dev/null", "/proc/self/mem"):
            yield Case(f"{command} {file}", (command, file))
