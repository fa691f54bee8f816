"""Beyond the paper: a link outage, which its program left as future work."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3.corruption import RATE_ONLY
from lightlag_papers.scps_ns3.setting import RUNS, Setting, Transport
from lightlag_papers.table import Layout, Row, Verdict

OUTAGES_S = (5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
BEGIN_S = 10.0
SPREAD = 0.2
"""Each outage is run with so much less to so much more of its length."""
LONGEST_PROBE_S = 60.0
AFTER = 2
NS3 = Transport("TCP, ns-3", "tcp")
LINUX = Transport(
    "TCP, Linux",
    "tcp",
    {
        "profile": '"linux"',
        "congestion": '"cubic"',
        "sack": "true",
        "recovery": '"rack"',
        "timestamps": "true",
        "prr": "true",
        "initial_window": "10",
        "growth": '"per_segment"',
    },
)
ALONE = RATE_ONLY.but("SCPS-TP, told by timeouts", outage_after=str(AFTER))
TOLD = RATE_ONLY.but("SCPS-TP, told by the station")
BACKED = RATE_ONLY.but("SCPS-TP, taken for corruption")
KINDS = (NS3, LINUX, BACKED, ALONE, TOLD)


@dataclass(frozen=True)
class Sample:
    """One run.

    Attributes
    ----------
    length_s
        Of the outage.
    late_s
        How much later the file was there than without an outage, less its length; None if the connection was given up.
    """

    length_s: float
    late_s: float | None


@dataclass(frozen=True)
class Outages:
    """Samples by kind and nominal length."""

    found: dict[tuple[str, float], list[Sample]]

    @classmethod
    def run(cls, effort: Effort) -> Outages:
        """Run every point."""
        seeds = effort.seeds_of(RUNS)
        usual = {one.label: _finish(one, "") for one in KINDS}
        points = [(one, length) for one in KINDS for length in OUTAGES_S]

        def work(job: tuple[Transport, float, int]) -> Sample:
            one, nominal, seed = job
            length = nominal * (1 + SPREAD * (2 * seed - RUNS - 1) / (RUNS - 1))
            finish, before = _finish(one, outage(length)), usual[one.label]
            assert before is not None
            return Sample(length, None if finish is None else finish - before - length)

        runs = effort.map(work, [(one, length, seed) for one, length in points for seed in seeds])
        count = len(seeds)
        return cls({(one.label, d): runs[at * count : (at + 1) * count] for at, (one, d) in enumerate(points)})

    def late(self, one: Transport, length_s: float) -> list[float]:
        """The delays of the runs that finished."""
        return [each.late_s for each in self.found[one.label, length_s] if each.late_s is not None]

    def given_up(self, one: Transport, length_s: float) -> int:
        """The number of connections that were given up."""
        return sum(each.late_s is None for each in self.found[one.label, length_s])


def outage(length_s: float) -> str:
    """The changes of the channel."""
    return f'[ {{ at = "{BEGIN_S:g} s", down = true }}, {{ at = "{BEGIN_S + length_s:.3f} s", down = false }} ]'


def _finish(one: Transport, changes: str) -> float | None:
    sets = {"links.1.changes": changes, "links.1.outage": "lose"} if changes else {}
    if changes and one is TOLD:
        sets["links.1.signals"] = '"outage"'
    (flow,) = Setting(one).run(1, **sets).summary["flows"]
    return flow["finish_s"]  # type: ignore[no-any-return]


ITEM = "beyond: outage"


def rows(run: Outages) -> list[Row]:
    """Survival and delay of the transports."""
    return [*(_survival_row(run, one) for one in KINDS), _tcp_row(run), _probe_row(run), _told_row(run)]


def _survival_row(run: Outages, one: Transport) -> Row:
    gone = [length for length in OUTAGES_S if run.given_up(one, length)]
    late = [shown(statistics.fmean(run.late(one, d))) if run.late(one, d) else "given up" for d in OUTAGES_S]
    never = one in (ALONE, TOLD)
    return Row(
        ITEM,
        f"{one.label}: how much later than the outage is long the file is there, s, at "
        f"{', '.join(f'{length:g}' for length in OUTAGES_S)} s",
        "",
        "",
        ", ".join(late),
        Verdict.check(not gone) if never else Verdict.NOT_JUDGED,
        "nothing is given up, which the paper leaves as future work" if never else REASONS[one.label],
    )


def shown(seconds: float) -> str:
    """Seconds, with hundredths below one."""
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2f}"


REASONS = {
    NS3.label: "six tries, then the connection is given up; RTO doubles up to 60 s",
    LINUX.label: "fifteen tries, RTO up to 120 s",
    BACKED.label: "the timeout does not double, so that it is there at once, and uses up its 32 tries within 32 s",
}


def _tcp_row(run: Outages) -> Row:
    short = [length for length in OUTAGES_S if length <= LONGEST_PROBE_S]
    shares = [
        each.late_s / each.length_s
        for length in short
        for each in run.found[LINUX.label, length]
        if each.late_s is not None
    ]
    mean = statistics.fmean(shares)
    return Row(
        ITEM,
        f"TCP, Linux: lateness over length of the outage, up to {LONGEST_PROBE_S:g} s",
        "",
        "0.5 (RTO doubles: the next try is up to the outage's length away)",
        f"{mean:.2f} ({min(shares):.2f} to {max(shares):.2f})",
        Verdict.check(0.3 <= mean <= 0.7 and max(shares) <= 1.25),
        "mean within 0.3 to 0.7, none above 1.25, with what slow start costs afterwards",
    )


def _probe_row(run: Outages) -> Row:
    late = [value for length in OUTAGES_S for value in run.late(ALONE, length)]
    return Row(
        ITEM,
        "SCPS-TP told by timeouts: latest of all runs, s",
        "",
        f"at most {LONGEST_PROBE_S:g} s and a round trip (probes after 1, 2, 4 to 60 s)",
        f"{max(late):.1f}, mean {statistics.fmean(late):.1f}",
        Verdict.check(max(late) <= LONGEST_PROBE_S + 1),
        "one interval of the probes; window and rate are as before at once",
    )


def _told_row(run: Outages) -> Row:
    late = [value for length in OUTAGES_S for value in run.late(TOLD, length)]
    return Row(
        ITEM,
        "SCPS-TP told by the station: latest of all runs, s",
        "",
        "the way of the message, what was on its way, and its repair: some round trips of 0.1 s",
        f"{max(late):.2f}, mean {statistics.fmean(late):.2f}",
        Verdict.check(max(late) <= 1.0),
        "at most 1 s, however long the outage",
    )


def layout(run: Outages) -> Layout:
    """Every point."""
    header = ("outage, s", *(one.label for one in KINDS))
    lines = []
    for length in OUTAGES_S:
        cells = [f"{length:g}"]
        for one in KINDS:
            late, gone = run.late(one, length), run.given_up(one, length)
            text = f"{shown(statistics.fmean(late))} ({shown(min(late))} to {shown(max(late))})" if late else ""
            cells.append("; ".join(filter(None, (text, f"{gone} given up" if gone else ""))))
        lines.append((cells[0], *cells[1:]))
    title = f"How much later than an outage of 80 to 120 % of this length a file of 5 MB is there, s ({RUNS} lengths)"
    return Layout("outage", title, header, tuple(lines))
