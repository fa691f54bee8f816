"""Runs the command line with three small papers, and sends it a signal as `interrupting.py` does, with the same
arguments.

Each paper adds its name to the file ``worked`` when it is run.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from lightlag.commands import papers
from lightlag_papers.paper import Effort, Paper, Picture, Reproduction
from lightlag_papers.table import Layout, Row, Verdict

NAMES = ("first", "second", "third")


def paper(name: str) -> Paper:
    def work(reproduction: Reproduction, effort: Effort) -> None:
        from lightlag.drawing import style

        with Path("worked").open("a") as file:
            file.write(f"{name}\n")
        effort.progress("drawing")
        figure, axes = style.chart()
        axes.plot([0, 1], [0, len(name)])
        row = Row("Fig. 1", "K, s", "4.71", "", "4.69", Verdict.REPRODUCED, "4 % (set in advance)")
        reproduction.add([row], [Picture("fig1", figure, "Fig. 1.")], ["A note."])
        reproduction.layouts.append(Layout("table1", "Table 1", ("K, s", "ours"), (("4.71", "4.69"),)))

    return Paper(name, f"On {name}", "A. Body, 2026", ("Fig. 1",), work)


if __name__ == "__main__":
    papers.papers = lambda: {name: paper(name) for name in NAMES}
    runpy.run_path(str(Path(__file__).with_name("interrupting.py")), run_name="__main__")
