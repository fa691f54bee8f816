"""Reproduced papers: their figures and tables are compared with ours, and each value gets a verdict.

>>> sorted(PAPERS)
['cubic-inet', 'fanet', 'hybla-cubic', 'hypatia', 'inet-tcp', 'open-questions', 'scps-ns3']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from lightlag_papers.collection import Collection, reproduce_all
from lightlag_papers.paper import Effort, Paper, Reproduction
from lightlag_papers.table import Row, Verdict

__all__ = ["PAPERS", "Collection", "Effort", "Paper", "Reproduction", "Row", "Verdict", "reproduce_all"]


def _work(module: str) -> Callable[[Reproduction, Effort], None]:
    """Fills a reproduction by calling the paper's module, which is only imported at that point."""

    def work(reproduction: Reproduction, effort: Effort) -> None:
        importlib.import_module(f"lightlag_papers.{module}").reproduce(reproduction, effort)

    return work


PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        Paper(
            name="cubic-inet",
            title="TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios",
            reference="I. Angelis, A. Tsipis, E. Christopoulou, K. Oikonomou, 2023",
            items=("Fig. 1", "§2.1", "Fig. 4", "Table 1", "Fig. 5", "Fig. 7", "Fig. 9", "Fig. 10", "Fig. 11"),
            work=_work("cubic_inet"),
            deviations="Rows 5 to 8 of Table 1 do not follow from one loss per window: an event that it does not list, "
            "such as a timeout, occurred between them. Fig. 7 depends on the receive window, which the paper does not "
            "state; the windows of Fig. 9 are above CUBIC's steady state; in "
            "Fig. 11 both throughputs fall with the RTT, and with them their difference. The deviation from "
            "ns-3 at 600 ms is not explained.",
        ),
        Paper(
            name="hybla-cubic",
            title="Comparative performance evaluation of TCP Hybla and TCP Cubic for satellite communication under low "
            "error conditions",
            reference="S. Trivedi, S. Jaiswal, R. Kumar, S. Rao, 2010",
            items=("Fig. 1", "Fig. 2", "equation 7", "Fig. 4", "Fig. 5", "Fig. 6", "§III-D"),
            work=_work("hybla_cubic"),
            deviations="The text of Fig. 2 uses β for two quantities. ns-2 does not limit Hybla's congestion window by "
            "the maximum window of 400 packets, and lightlag does.",
        ),
        Paper(
            name="inet-tcp",
            title="Enhancement of the TCP Module in the OMNeT++/INET Framework",
            reference="T. Reschka, T. Dreibholz, J. Pulinthanath, M. Becke, E. P. Rathgeb, 2010",
            items=("Fig. 1", "Fig. 3", "§3.2.3"),
            work=_work("inet_tcp"),
            deviations="At 4e-6 the confidence interval of the gain includes the limit of 50 %, and at 6e-6 the "
            "gain is below it.",
        ),
        Paper(
            name="scps-ns3",
            title="An Implementation and Analysis of SCPS-TP in ns-3",
            reference="T. A. N. Nguyen, J. P. G. Sterbenz, 2017",
            items=("Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8", "Fig. 9"),
            work=_work("scps_ns3"),
            deviations="No reading reproduces both ratios of Figs. 8 and 9. In Figs. 3 to 5 ACKs per round are "
            "integers, NewReno and Vegas have the same ACK clock, and Hybla also gains in ns-3.37. The checks fail "
            "where slow start dominates a mean (Fig. 4), the return queue overflows (Fig. 7), a fourth rule "
            "of ns-3 is not copied (overshoot), and a report of six holes limits SNACK at 300 ms (repair); "
            "Vegas in Fig. 3 is not explained.",
        ),
        Paper(
            name="fanet",
            title="A Study on Performance of CUBIC TCP and TCP BBR in FANETs",
            reference="M. Alrayes, I. Shrena, Z. Khlifa, A. Alfagi, 2021",
            items=("Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6"),
            work=_work("fanet"),
            deviations="The paper leaves five settings open and contradicts itself, so the best of 64 readings is "
            "shown. The checks of connectivity fail because the mobility model's rule at walls gathers nodes there, "
            "where they have more neighbours.",
        ),
        Paper(
            name="hypatia",
            title="Exploring the “Internet from space” with Hypatia",
            reference="S. Kassing, D. Bhattacherjee, A. Baptista Águas, J. E. Saethre, A. Singla, IMC 2020",
            items=("RTT", "all pairs", "NewReno", "Vegas", "Starlink as measured"),
            work=_work("hypatia"),
        ),
        Paper(
            name="open-questions",
            title="Open questions of the papers",
            reference="Questions that the papers raise, answered by our own runs",
            items=("start-up", "CUBIC-INET §6", "errors", "sizes", "pairs", "round trips"),
            work=_work("open_questions"),
            deviations="BBR is below paced Hybla because it reduces its flight to 4 segments every 10 s, which takes "
            "1.2 s over GEO.",
        ),
    )
}
"""The papers that can be reproduced, by name."""
