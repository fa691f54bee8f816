"""Places where nothing can be written."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from bad_inputs.case import Case


def writing() -> Iterator[Case]:
    prepared: dict[str, Callable[[], object]] = {
        "a file": lambda: Path("out").write_text(""),
        "a link": lambda: Path("out").symlink_to("nowhere"),
        "a full folder": lambda: (Path("out").mkdir(), Path("out/thesis.tex").write_text("")),
        "a folder": lambda: Path("out").mkdir(),
        "results": lambda: (Path("out").mkdir(), Path("out/run.json").write_text("{}")),
        "a fifo": lambda: os.mkfifo("out"),
    }
    commands = {
        "run": ("run", "pair.toml"),
        "compare": ("compare", "pair.toml", "-c", "cubic", "-n", "1"),
        "reproduce": ("reproduce", "scps-ns3"),
        "replay": ("replay", "x.pcap"),
    }
    for (what, prepare), (name, command) in itertools.product(prepared.items(), commands.items()):
        yield Case(f"{name} to {what}", (*command, "--out", "out"), prepare=prepare, parts=("out",))
        if what in ("a file", "a link", "a full folder", "a fifo"):
            yield Case(
                f"{name} to {what} by force", (*command, "--out", "out", "--force"), prepare=prepare, parts=("out",)
            )
    for out in (
        "",
        "..",
        "/",
        "x" * 250,
        "y" * 300,
        "pair.toml/deep",
        "pair.toml/a/b",
        "a/" + "z" * 260,
        "/proc/none/x",
        "/dev/null/x",
    ):
        for name, command in commands.items():
            parts = ("is not a directory",) if out.startswith(("pair.toml", "/dev")) else (out[-12:],)
            yield Case(f"{name} to {out:.12}", (*command, "--out", out), parts=parts)
    for name in ("cwnd.docx", "cwnd", "cwnd.", ".", "pair.toml", "x.PDFx"):
        yield Case(f"figure {name}", ("plot", "kept", "-o", name), parts=(name, ".pdf"))
    for metric in ("colour", "", "CWND", "cwnd,rrt", "bars"):
        yield Case(f"metric {metric}", ("plot", "kept", "-m", metric), parts=("cwnd, goodput, sequence, rtt, queue",))
