"""Papers, run again: their figures and tables beside ours, each with a verdict.

>>> sorted(PAPERS)
['cubic-inet']
"""

from __future__ import annotations

from lightlag.reproduce.paper import Effort, Paper, Reproduction
from lightlag.reproduce.table import Row, Verdict

__all__ = ["PAPERS", "Effort", "Paper", "Reproduction", "Row", "Verdict"]


def _cubic_inet(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag.reproduce import cubic_inet

    cubic_inet.reproduce(reproduction, effort)


PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        Paper(
            name="cubic-inet",
            title="TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios",
            reference="I. Angelis, A. Tsipis, E. Christopoulou, K. Oikonomou, 2023",
            items=("Fig. 1", "Fig. 4", "Table 1", "Fig. 5", "Fig. 7"),
            work=_cubic_inet,
        ),
    )
}
"""The papers that can be reproduced, by name."""
