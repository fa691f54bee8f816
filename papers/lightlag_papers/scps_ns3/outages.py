"""Beyond the paper: a link outage, which the paper left as future work."""

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
"""Relative spread of the lengths of an outage over the runs, to both sides of the nominal length."""
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
ALONE = RATE_ONLY.but("SCPS-TP, notified by timeouts", outage_after=str(AFTER))
TOLD = RATE_ONLY.but("SCPS-TP, notified by the station")
BACKED = RATE_ONLY.but("SCPS-TP, taken for corruption")
KINDS = (NS3, LINUX, BACKED, ALONE, TOLD)


@dataclass(frozen=True)
class Sample:
    """The results of one run.

    Attributes
    ----------
    length_s
        Duration of the outage.
    late_s
        Delay of the file's completion by the outage, less the outage's duration; None if the connection was aborted.
    """

    length_s: float
    late_s: float | None


@dataclass(frozen=True)
class Outages:
    """Results by kind of transport and nominal length of the outage."""

    found: dict[tuple[str, float], list[Sample]]

    @classmethod
    def run(cls, effort: Effort) -> Outages:
        """Runs all points."""
        seeds = effort.seeds_of(RUNS)
        usual = {one.label: _finish(one, "") for one in KINDS}

        def work(job: tuple[Transport, float, int]) -> Sample:
            one, nominal, seed = job
            length = nominal * (1 + SPREAD * (2 * seed - RUNS - 1) / (RUNS - 1))
            finish, before = _finish(one, outage(length)), usual[one.label]
            assert before is not None
            return Sample(length, None if finish is None else finish - before - length)

        runs = [(one, length, seed) for one in KINDS for length in OUTAGES_S for seed in seeds]
        return cls(effort.collect(work, runs, lambda run: (run[0].label, run[1])))

    def late(self, one: Transport, length_s: float) -> list[float]:
        """Returns the delays in the runs that finished, in s."""
        return [each.late_s for each in self.found[one.label, length_s] if each.late_s is not None]

    def given_up(self, one: Transport, length_s: float) -> int:
        """Returns the number of aborted connections."""
        return sum(each.late_s is None for each in self.found[one.label, length_s])


def outage(length_s: float) -> str:
    """Returns the changes of the channel for an outage of this length."""
    return f'[ {{ at = "{BEGIN_S:g} s", down = true }}, {{ at = "{BEGIN_S + length_s:.3f} s", down = false }} ]'


def _finish(one: Transport, changes: str) -> float | None:
    sets = {"links.1.changes": changes, "links.1.outage": "lose"} if changes else {}
    if changes and one is TOLD:
        sets["links.1.signals"] = '"outage"'
    (flow,) = Setting(one).run(1, **sets).summary["flows"]
    return flow["finish_s"]  # type: ignore[no-any-return]


ITEM = "beyond: outage"


def rows(run: Outages) -> list[Row]:
    """Returns the rows on the survival and the delay of each transport."""
    return [*(_survival_row(run, one) for one in KINDS), _tcp_row(run), _probe_row(run), _told_row(run)]


def _survival_row(run: Outages, one: Transport) -> Row:
    gone = [length for length in OUTAGES_S if run.given_up(one, length)]
    late = [shown(statistics.fmean(run.late(one, d))) if run.late(one, d) else "aborted" for d in OUTAGES_S]
    never = one in (ALONE, TOLD)
    return Row(
        ITEM,
        f"{one.label}: delay of the file beyond the length of the outage, s, at "
        f"{', '.join(f'{length:g}' for length in OUTAGES_S)} s",
        "",
        "",
        ", ".join(late),
        Verdict.check(not gone) if never else Verdict.NOT_JUDGED,
        "no connection is aborted; the paper leaves this as future work" if never else REASONS[one.label],
    )


def shown(seconds: float) -> str:
    """Formats seconds: two decimals below 1 s, one above."""
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2f}"


REASONS = {
    NS3.label: "six attempts, then the connection is aborted; RTO doubles up to 60 s",
    LINUX.label: "fifteen tries, RTO up to 120 s",
    BACKED.label: "the timeout does not double, so recovery is immediate, and its 32 attempts end within 32 s",
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
    return Row.check(
        ITEM,
        f"TCP, Linux: lateness over length of the outage, up to {LONGEST_PROBE_S:g} s",
        "0.5 (RTO doubles: the next try is up to the outage's length away)",
        f"{mean:.2f} ({min(shares):.2f} to {max(shares):.2f})",
        0.3 <= mean <= 0.7 and max(shares) <= 1.25,
        "mean within 0.3 to 0.7, none above 1.25, including slow start afterwards",
    )


def _probe_row(run: Outages) -> Row:
    late = [value for length in OUTAGES_S for value in run.late(ALONE, length)]
    return Row.check(
        ITEM,
        "SCPS-TP notified by timeouts: latest of all runs, s",
        f"at most {LONGEST_PROBE_S:g} s and a round trip (probes after 1, 2, 4 to 60 s)",
        f"{max(late):.1f}, mean {statistics.fmean(late):.1f}",
        max(late) <= LONGEST_PROBE_S + 1,
        "one interval of the probes; window and rate are restored immediately",
    )


def _told_row(run: Outages) -> Row:
    late = [value for length in OUTAGES_S for value in run.late(TOLD, length)]
    return Row.check(
        ITEM,
        "SCPS-TP notified by the station: latest of all runs, s",
        "the notification, the packets in transit, and their retransmission: some round trips of 0.1 s",
        f"{max(late):.2f}, mean {statistics.fmean(late):.2f}",
        max(late) <= 1.0,
        "at most 1 s, however long the outage",
    )


def layout(run: Outages) -> Layout:
    """Returns the table of all points."""
    header = ("outage, s", *(one.label for one in KINDS))
    lines = []
    for length in OUTAGES_S:
        cells = [f"{length:g}"]
        for one in KINDS:
            late, gone = run.late(one, length), run.given_up(one, length)
            text = f"{shown(statistics.fmean(late))} ({shown(min(late))} to {shown(max(late))})" if late else ""
            cells.append("; ".join(filter(None, (text, f"{gone} aborted" if gone else ""))))
        lines.append((cells[0], *cells[1:]))
    title = f"Delay of a file of 5 MB beyond the outage, of 80 to 120 % of this length, s ({RUNS} lengths)"
    return Layout("outage", title, header, tuple(lines))
