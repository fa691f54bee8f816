"""CUBIC and BBR in swarms of UAVs, 2021: throughput and fairness by density and speed; causes; and what lies beyond."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lightlag import _engine
from lightlag_papers.fanet import causes, exchanged, figures, hop, judging, readings, runs, sweeps
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
    Contender,
    Setting,
    as_linux,
)
from lightlag_papers.fanet.sweeps import Runner, Swarms
from lightlag_papers.paper import Effort, Picture, Reproduction

WANTED = ("newreno", "cubic", "bbr", "bbr3", "vegas", "westwood+", "hybla", "illinois", "copa")
"""Beyond the paper: by loss, by delay, by rate."""

NOTES = (
    "**Readings.** The paper leaves five settings open, or gives two values for them. A reading answers all five, "
    "and all claims are judged under it together. Table 1 has 20 to 60 UAVs with 5 to 25 connections, the text 40 "
    "to 80 with 30; the first and the last point of our curves stand for those of the paper's. The range is not "
    "stated: 44 m is that of ns-3.30.1's defaults, 81 m takes 8 dB more and 150 m 16, and in one collision domain "
    "everybody hears everybody. Throughput is that over the run, or over the time between the first and the last "
    "data of a flow (equation 4). Jain's index covers all flows, or those that delivered anything. BBR has "
    "Linux's rules or those of ns-3's TcpBbr. All readings, claims and bands were written down before the runs.",
    "**Chosen, because the paper does not say:** no gains, noise figure 7 dB, path loss with an exponent of 3, "
    "NIST's error model, frames of 24 Mbit/s and broadcasts of 6, no RTS, 7 transmissions of a frame, a MAC queue "
    "of 500 packets and 500 ms: the defaults of ns-3.30.1. Gauss-Markov mobility with α 0.85, steps of 0.5 s and "
    "the noise of the example in ns-3's documentation; the mean speed of a node is drawn from 0 to the speed of "
    "the figure. Different random pairs start within the first second; a first window of one segment, buffers of "
    "128 KiB, an ACK for every second segment.",
    "**The paper contradicts itself** not only about its density. It places the largest and the smallest "
    "throughput of Fig. 5 both at 5 m/s; its own trend has the smallest at 25 m/s, where it is judged. Equation 5 "
    "lacks the square, and sums from 0; as printed it is 1/n for every allocation, so Jain's index is taken. 60 "
    "UAVs at 25 m/s belong to both experiments. *No relationship* of fairness and density is not judged: five "
    "points can neither show nor refute it.",
    "**Which CUBIC and BBR.** ns-3.30.1 had neither, so the paper ran code of its own. CUBIC is that of ns-3.37. "
    '*BBR as Linux* and *BBR as ns-3* (`variant = "ns3"`) both run in ns-3\'s TCP. The latter takes n ACKs in a '
    "flight for n/(n+1) of its rate, so that with an ACK for every second segment its estimate of the bandwidth "
    "falls until segments wait for the timer of delayed ACKs: docs/models/congestion-control.md.",
    "**ns-3.37 itself** flies the same swarms (`benchmarks/peers/ns3/air-swarm.cc`): lightlag follows the paths, "
    "pairs and starts that ns-3 drew, with AODV's habits of ns-3 and without agreements on block acknowledgements "
    "(`--aggregate=0`), which frames at legacy rates cannot use. Each metric has one definition for both: a frame "
    "sent again has the retry bit; every expired timer of TCP counts, also in the handshake; hops and delays are "
    "means over the data that arrived; dropped frames are those given up after the last attempt or their "
    "lifetime, or refused by a full queue. They agree if the mean differences of a swarm are within a tenth in data, "
    "served flows, frames sent again and hops, or not different from 0 at 95 %. One switch matters at 44 m: ns-3 "
    "keeps packets that wait for a route until a reply or the end of a ring, also if a neighbour's HELLO brings the "
    'route before (`release_on = "reply"`). If HELLO releases them, CUBIC carries 6.86 instead of 4.92 MB in ten '
    "swarms of 10 s, and ns-3 4.94 MB.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fill a reproduction with every item."""
    fill(reproduction, effort, runs.keeping(effort.kept), contenders())
    effort.progress("one clean hop")
    rows, goodputs = hop.fill(effort, hop.run)
    reproduction.add(rows)
    reproduction.layouts.append(goodputs)


def contenders() -> list[Contender]:
    """The algorithms beyond the paper: ns-3's, BBR with an ACK for each segment, and others in the TCP of Linux."""
    names = [entry["name"] for entry in json.loads(_engine.catalog())["congestion"]]
    return [
        CUBIC,
        BBR_LINUX,
        EACH_ACKED,
        BBR_NS3,
        NS3_EACH_ACKED,
        *(as_linux(name) for name in WANTED if name in names),
    ]


def fill(reproduction: Reproduction, effort: Effort, runner: Runner, contenders: Sequence[Contender]) -> None:
    """Fill a reproduction with every item, from the runs of `runner`; `contenders` take part beyond the paper."""
    swarms = Swarms(effort, runner)
    outcomes: dict[Setting, Sequence[Outcome]] = {}
    for ground in GROUNDS:
        effort.progress(f"Figs. 3 to 6: {ground.source.name}, {ground.radio.name}")
        outcomes |= swarms.run(sweeps.settings_of(ground))
    judgements = judging.judge_all(outcomes)
    best = judgements[0].reading
    reproduction.lead = judging.summary(judgements, len(effort.seeds_of(SEEDS)))
    reproduction.add(judging.rows(judgements), _pictures(best, outcomes))
    reproduction.layouts += [judging.answers(judgements), judging.by_claim(judgements)]
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
    for name, settings in sweeps.beyond(contenders).items():
        effort.progress(f"beyond the paper: {name}")
        large = [one for one in settings.values() if one.nodes >= sweeps.LARGE]
        usual = [one for one in settings.values() if one.nodes < sweeps.LARGE]
        ran = {**swarms.run(usual, sweeps.BEYOND_SEEDS), **swarms.run(large, 1)}
        reproduction.layouts.append(sweeps.layout(name, settings, ran))
    reproduction.layouts.append(judging.table(judgements))
    reproduction.notes += NOTES


def _swarms(reproduction: Reproduction, ground: Ground, outcomes: Outcomes) -> None:
    """The measurements of the swarms of the best reading, and the causes."""
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
