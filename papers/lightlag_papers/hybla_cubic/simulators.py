"""Measurements of ns-2 on this path: version 2.35 with TCP-Linux, `benchmarks/simulators/ns2/satellite.tcl`.

    ns satellite.tcl hybla 600 1e-4 50 400 200 1 40 500 < LOSSES

`ns2.json` has the packets lost on the up-link and the down-link (LOSSES), and ns-2's measurements: goodput over
200 s, the window after 30 s, and the number of acknowledged packets every two seconds. The runs here lose the
same packets. In ns-2, CUBIC's initial threshold is the maximum window.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightlag_papers.hybla_cubic.comparison import JUDGED_S, PAYLOAD_BYTES, PER, SECONDS, Setting
from lightlag_papers.paper import Effort
from lightlag_papers.table import Row

WINDOWS = (400, 1000, 5000)
ALGORITHMS = ("Hybla", "CUBIC")
STEP_S = 2.0
"""Interval between two counts of acknowledged packets, in s."""
TOLERANCE = 0.1
UNBOUNDED = (
    "In ns-2 the maximum window limits CUBIC's congestion window, but only Hybla's flight: Hybla's congestion "
    "window grows to 949 packets with a maximum of 400. In lightlag it limits both"
)


@dataclass(frozen=True)
class Run:
    """One run of ns-2.

    Attributes
    ----------
    algorithm, max_window, seed
        ``CUBIC`` or ``Hybla``, the maximum window in packets, and the seed.
    goodput_mbps
        Goodput over 200 s.
    variation, mean_window
        Coefficient of variation of the window after 30 s, and its mean in packets.
    acked
        Number of packets acknowledged by 0, 2, 4, ... s.
    """

    algorithm: str
    max_window: int
    seed: int
    goodput_mbps: float
    variation: float
    mean_window: float
    acked: Sequence[int]


def _record() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(__file__).with_name("ns2.json").read_text("utf-8"))
    return record


def runs() -> list[Run]:
    """Returns all runs of ns-2."""
    return [Run(**one) for one in _record()["runs"]]


def same_losses(setting: Setting, seed: int) -> float:
    """Returns our goodput over 200 s in Mbit/s, with the same packets lost as in ns-2's run with this seed."""
    changes = {}
    for index, packets in zip((2, 3), _record()["losses"][str(seed)], strict=True):
        changes[f"links.{index}.loss"] = f"{{ forward = {{ packets = {packets} }}, backward = {PER:g} }}"
    (flow,) = setting.run(seed, record="off", changes=changes).summary["flows"]
    return float(flow["goodput_bps"]) / 1e6


def rows(effort: Effort) -> list[Row]:
    """Returns the rows that compare both simulators with the same losses, and ns-2's own results with the claims."""
    effort.progress("ns-2's runs, with its losses")
    found = runs()
    ours = effort.map(lambda run: same_losses(_setting(run), run.seed), found)
    goodputs = dict(zip(((one.algorithm, one.max_window, one.seed) for one in found), ours, strict=True))
    return [row for window in WINDOWS for row in (_goodput_row(found, goodputs, window), _claims_row(found, window))]


def _setting(run: Run) -> Setting:
    return Setting(run.algorithm, max_window=run.max_window, thresholds="maximum")


def _goodput_row(found: Sequence[Run], ours: dict[tuple[str, int, int], float], window: int) -> Row:
    theirs = [[one.goodput_mbps for one in _of(found, window, algorithm)] for algorithm in ALGORITHMS]
    mine = [[ours[algorithm, window, one.seed] for one in _of(found, window, algorithm)] for algorithm in ALGORITHMS]
    apart = [statistics.fmean(a) / statistics.fmean(b) - 1 for a, b in zip(mine, theirs, strict=True)]
    return Row.check(
        "Fig. 6",
        f"maximum window of {window} packets, the same packets lost: goodput of {SECONDS:.0f} s, Mbit/s: Hybla, CUBIC",
        f"{', '.join(f'{statistics.fmean(one):.2f}' for one in theirs)} (ns-2.35, {len(theirs[0])} seeds)",
        ", ".join(f"{statistics.fmean(one):.2f}" for one in mine),
        all(abs(value) <= TOLERANCE for value in apart),
        f"each within {TOLERANCE:.0%} of ns-2: {', '.join(f'{value:+.1%}' for value in apart)}. {UNBOUNDED}",
    )


def _claims_row(found: Sequence[Run], window: int) -> Row:
    hybla, cubic = (_of(found, window, algorithm) for algorithm in ALGORITHMS)
    pairs = list(zip(hybla, cubic, strict=True))
    judged = round(JUDGED_S / STEP_S)
    ahead = [max(a - b for a, b in zip(x.acked, y.acked, strict=True)) for x, y in pairs]
    until = [
        max(at for at, (a, b) in enumerate(zip(x.acked, y.acked, strict=True)) if a >= b) * STEP_S for x, y in pairs
    ]
    steadier = sum(x.variation > y.variation for x, y in pairs)
    lower = sum(x.mean_window < y.mean_window for x, y in pairs)
    later = sum(x.acked[judged] < y.acked[judged] for x, y in pairs)
    variations = ", ".join(f"{statistics.fmean(one.variation for one in half):.2f}" for half in (hybla, cubic))
    return Row.informing(
        "Figs. 4 to 6",
        f"the same in ns-2.35 alone: seeds in which Hybla's window varies more, has the lower mean, and in which CUBIC "
        f"is ahead after {JUDGED_S:.0f} s",
        f"{steadier}, {lower}, {later} of {len(pairs)}; standard deviation over mean {variations}; Hybla's lead at "
        f"most {statistics.fmean(ahead) * PAYLOAD_BYTES / 1e6:.1f} MB, until {statistics.fmean(until):.0f} s",
    )


def _of(found: Sequence[Run], window: int, algorithm: str) -> list[Run]:
    """Returns an algorithm's runs with a maximum window, for the seeds that both algorithms have."""
    mine = [one for one in found if one.max_window == window]
    both = set.intersection(*({one.seed for one in mine if one.algorithm == name} for name in ALGORITHMS))
    return sorted((one for one in mine if one.algorithm == algorithm and one.seed in both), key=lambda one: one.seed)
