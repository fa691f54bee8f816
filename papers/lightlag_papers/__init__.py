"""Papers, run again: their figures and tables beside ours, each with a verdict.

>>> sorted(PAPERS)
['cubic-inet', 'fanet', 'hybla-cubic', 'hypatia', 'inet-tcp', 'open-questions', 'scps-ns3']
"""

from __future__ import annotations

from lightlag_papers.collection import Collection, reproduce_all
from lightlag_papers.paper import Effort, Paper, Reproduction
from lightlag_papers.table import Row, Verdict

__all__ = ["PAPERS", "Collection", "Effort", "Paper", "Reproduction", "Row", "Verdict", "reproduce_all"]


def _cubic_inet(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import cubic_inet

    cubic_inet.reproduce(reproduction, effort)


def _fanet(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import fanet

    fanet.reproduce(reproduction, effort)


def _hybla_cubic(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import hybla_cubic

    hybla_cubic.reproduce(reproduction, effort)


def _hypatia(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import hypatia

    hypatia.reproduce(reproduction, effort)


def _inet_tcp(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import inet_tcp

    inet_tcp.reproduce(reproduction, effort)


def _open_questions(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import open_questions

    open_questions.reproduce(reproduction, effort)


def _scps_ns3(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag_papers import scps_ns3

    scps_ns3.reproduce(reproduction, effort)


PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        Paper(
            name="cubic-inet",
            title="TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios",
            reference="I. Angelis, A. Tsipis, E. Christopoulou, K. Oikonomou, 2023",
            items=("Fig. 1", "§2.1", "Fig. 4", "Table 1", "Fig. 5", "Fig. 7", "Fig. 9", "Fig. 10", "Fig. 11"),
            work=_cubic_inet,
        ),
        Paper(
            name="hybla-cubic",
            title="Comparative performance evaluation of TCP Hybla and TCP Cubic for satellite communication under low "
            "error conditions",
            reference="S. Trivedi, S. Jaiswal, R. Kumar, S. Rao, 2010",
            items=("Fig. 1", "Fig. 2", "equation 7", "Fig. 4", "Fig. 5", "Fig. 6", "§III-D"),
            work=_hybla_cubic,
        ),
        Paper(
            name="inet-tcp",
            title="Enhancement of the TCP Module in the OMNeT++/INET Framework",
            reference="T. Reschka, T. Dreibholz, J. Pulinthanath, M. Becke, E. P. Rathgeb, 2010",
            items=("Fig. 1", "Fig. 3", "§3.2.3"),
            work=_inet_tcp,
        ),
        Paper(
            name="scps-ns3",
            title="An Implementation and Analysis of SCPS-TP in ns-3",
            reference="T. A. N. Nguyen, J. P. G. Sterbenz, 2017",
            items=("Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8", "Fig. 9"),
            work=_scps_ns3,
        ),
        Paper(
            name="fanet",
            title="A Study on Performance of CUBIC TCP and TCP BBR in FANETs",
            reference="M. Alrayes, I. Shrena, Z. Khlifa, A. Alfagi, 2021",
            items=("Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6"),
            work=_fanet,
        ),
        Paper(
            name="hypatia",
            title="Exploring the “Internet from space” with Hypatia",
            reference="S. Kassing, D. Bhattacherjee, A. Baptista Águas, J. E. Saethre, A. Singla, IMC 2020",
            items=("RTT", "all pairs", "NewReno", "Vegas", "Starlink as measured"),
            work=_hypatia,
        ),
        Paper(
            name="open-questions",
            title="Open questions of the papers",
            reference="Questions that the papers raise, answered by our own runs",
            items=("start-up", "CUBIC-INET §6", "errors", "sizes", "pairs", "round trips"),
            work=_open_questions,
        ),
    )
}
"""The papers that can be reproduced, by name."""
