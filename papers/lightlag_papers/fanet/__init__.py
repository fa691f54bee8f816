"""CUBIC and BBR in swarms of UAVs, 2021: throughput and fairness by density and speed; causes; and what lies beyond."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lightlag import _engine
from lightlag_papers.fanet import assessment, causes, exchanged, figures, hop, readings, runs, sweeps
from lightlag_papers.fanet.outcome import Outcome
from lightlag_papers.fanet.readings import GROUNDS, READINGS, Ground, Outcomes, Reading
from lightlag_papers.fanet.setting import (
    BBR_LINUX,
    BBR_NS3,
    CUBIC,
    EACH_ACKED,
    FULL_SPEED,
    NS3_EACH_ACKED,
    RADIOS,
    SEEDS,
    SOURCES,
    Candidate,
    Setting,
    as_linux,
)
from lightlag_papers.fanet.sweeps import Runner, Swarms
from lightlag_papers.paper import Effort, Picture, Reproduction

WANTED = ("newreno", "cubic", "bbr", "bbr3", "vegas", "westwood+", "hybla", "illinois", "copa")
"""The algorithms tested beyond the paper: loss-based, delay-based and rate-based."""

NOTES = (
    "**Readings.** The paper leaves five settings open, or gives two values for them. A reading fixes all five, and "
    "all claims are evaluated under it. Table 1 has 20 to 60 UAVs with 5 to 25 connections, the text 40 to 80 with "
    "30; the first and the last point of the curves are compared with the paper's. The range is not stated: 44 m "
    "follows from ns-3.30.1's defaults, 81 m from 8 dB more and 150 m from 16, and in one collision domain all nodes "
    "receive all frames. Throughput is an average over the run, or over the time between the first and the last data "
    "of a flow (equation 4). Jain's index covers all flows, or the flows that delivered data. BBR follows Linux or "
    "ns-3's TcpBbr. All readings, claims and bands were fixed before the runs. A value in its band also needs an "
    "interval that is narrower than the band.",
    "**Assumptions** where the paper is silent, the defaults of ns-3.30.1: no gains, noise figure 7 dB, path loss "
    "with an exponent of 3, NIST's error model, frames of 24 Mbit/s and broadcasts of 6, no RTS, 7 transmissions of a "
    "frame, a MAC queue of 500 packets and 500 ms. Gauss-Markov mobility with α 0.85, steps of 0.5 s and the noise of "
    "the example in ns-3's documentation; the mean speed of a node is drawn from 0 to the speed of the figure. "
    "Different random pairs start within the first second; the initial window is one segment, buffers are 128 KiB, "
    "and every second segment is acknowledged.",
    "**Contradictions in the paper.** It states both the maximum and the minimum throughput of Fig. 5 at 5 m/s; its "
    "own trend has the minimum at 25 m/s, where it is evaluated. Equation 5 lacks the square, and sums from 0; as "
    "printed it is 1/n for every allocation, so Jain's index is used. 60 UAVs at 25 m/s belong to both experiments. "
    "*No relationship* of fairness and density has no verdict: five points can neither show nor refute it.",
    "**CUBIC and BBR.** ns-3.30.1 had neither, so the paper used its own code. CUBIC follows ns-3.37. *BBR as Linux* "
    'and *BBR as ns-3* (`variant = "ns3"`) both run in ns-3\'s TCP. The latter estimates a rate of n/(n+1) from n '
    "ACKs in a flight, so that it starves with an ACK for every second segment (see `bbr` in the reference).",
    "**Comparison with ns-3.37** in the same swarms (`benchmarks/simulators/ns3/air-swarm.cc`): lightlag follows the "
    "paths, pairs and start times that ns-3 drew, with the rules of ns-3's AODV and without negotiation of block "
    "acknowledgements (`--aggregate=0`), which frames at legacy rates cannot use. Both use the same definitions: a "
    "retransmitted frame has the retry bit; every expired TCP timer counts, also in the handshake; hops and delays "
    "are means over the delivered data; a dropped frame failed in its last attempt, expired, or met a full queue. One "
    "switch matters at 44 m: in ns-3 packets that wait for a route are released by a reply or the end of a ring, not "
    'by a neighbour\'s HELLO (`release_on = "reply"`). If HELLO releases them, CUBIC carries 6.86 instead of 4.92 MB '
    "in ten swarms of 10 s, and ns-3 4.94 MB.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    fill(reproduction, effort, runs.keeping(effort.kept), candidates())
    effort.progress("one clean hop")
    rows, goodputs = hop.fill(effort, hop.run)
    reproduction.add(rows)
    reproduction.layouts.append(goodputs)


def candidates() -> list[Candidate]:
    """Returns the algorithms tested beyond the paper.

    These are the algorithms of ns-3, BBR with an ACK for each segment, and others with Linux's TCP.
    """
    names = [entry["name"] for entry in json.loads(_engine.catalog())["congestion"]]
    return [
        CUBIC,
        BBR_LINUX,
        EACH_ACKED,
        BBR_NS3,
        NS3_EACH_ACKED,
        *(as_linux(name) for name in WANTED if name in names),
    ]


def fill(reproduction: Reproduction, effort: Effort, runner: Runner, candidates: Sequence[Candidate]) -> None:
    """Fills a reproduction with all items from runs of `runner`; `candidates` are algorithms beyond the paper."""
    swarms = Swarms(effort, runner)
    outcomes: dict[Setting, Sequence[Outcome]] = {}
    for ground in GROUNDS:
        effort.progress(f"Figs. 3 to 6: {ground.source.name}, {ground.radio.name}")
        outcomes |= swarms.run(sweeps.settings_of(ground))
    assessments = assessment.assess_all(outcomes)
    best = assessments[0].reading
    reproduction.lead = assessment.summary(assessments, len(effort.seeds_of(SEEDS)))
    reproduction.add(assessment.rows(assessments), _pictures(best, outcomes))
    reproduction.layouts += [assessment.answers(assessments), assessment.by_claim(assessments)]
    _swarms(reproduction, best.ground, outcomes)
    swarms_of_both = exchanged.read(exchanged.FILE.read_text("utf-8"))
    reproduction.add(exchanged.rows(swarms_of_both))
    reproduction.layouts.append(exchanged.layout(swarms_of_both))
    effort.progress("connectivity")
    modelled = {
        (radio.name, nodes): causes.connectivity(nodes, FULL_SPEED, radio)
        for radio in RADIOS[:-1]
        for nodes in sorted({nodes for source in SOURCES for nodes, _ in source.swarms})
    }
    reproduction.add(causes.connectivity_rows(modelled))
    reproduction.layouts.append(causes.connectivity_layout(modelled))
    for name, settings in sweeps.beyond(candidates).items():
        effort.progress(f"beyond the paper: {name}")
        large = [one for one in settings.values() if one.nodes >= sweeps.LARGE]
        usual = [one for one in settings.values() if one.nodes < sweeps.LARGE]
        ran = {**swarms.run(usual, sweeps.BEYOND_SEEDS), **swarms.run(large, 1)}
        reproduction.layouts.append(sweeps.layout(name, settings, ran))
    reproduction.layouts.append(assessment.table(assessments))
    reproduction.notes += NOTES


def _swarms(reproduction: Reproduction, ground: Ground, outcomes: Outcomes) -> None:
    """Returns the tables of measurements and causes for the swarms of the best reading."""
    words = f"{ground.source.name}, range {ground.radio.name}"
    columns = {"throughput": causes.METRICS, "causes": causes.CAUSES}
    titles = {"throughput": "Throughput and fairness", "causes": "Causes"}
    for name, those in columns.items():
        layout = causes.layout(
            those, ground, outcomes, name, f"{titles[name]} in the swarms of the best reading: {words}"
        )
        reproduction.layouts.append(layout)
    reproduction.add(causes.rows(ground, outcomes))


def _pictures(best: Reading, outcomes: Outcomes) -> list[Picture]:
    pictures = []
    for varies, (first, second) in (("nodes", ("Fig. 3", "Fig. 4")), ("speed", ("Fig. 5", "Fig. 6"))):
        seen = readings.evidence(best, varies, outcomes)
        what = "the number of UAVs" if varies == "nodes" else "the speed"
        for item, draw, caption in (
            (first, figures.throughput, f"Throughput of a flow by {what}"),
            (second, figures.jain, f"Jain's index by {what}"),
        ):
            name = item.lower().replace(". ", "")
            pictures.append(Picture(name, draw(seen, varies), f"{item}. {caption}, under the best reading."))
    others = {
        one.ground.radio.name: readings.evidence(one, "nodes", outcomes)
        for one in READINGS
        if _but_for_the_range(one) == _but_for_the_range(best)
    }
    caption = "Throughput by the number of UAVs for each range, all else as in the best reading."
    return [*pictures, Picture("ranges", figures.ranges(others), caption)]


def _but_for_the_range(reading: Reading) -> tuple[object, ...]:
    ground = reading.ground
    return (ground.source, reading.throughput, reading.fairness, reading.bbr)
