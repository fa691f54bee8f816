"""The tables of a comparison, and the page docs/simulators.md."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from statistics import median, stdev

from differences import DIFFERENCES, Difference, difference
from grid import CELLS, MEGABITS, SEEDS, Cell, Outcome, mean
from settings import BOUNDED, PROFILES, SWITCHES

CLOSE = 0.10
FAR = 0.25


@dataclass(frozen=True)
class Row:
    """One algorithm in one cell, compared with one simulator."""

    simulator: str
    algorithm: str
    cell: Cell
    theirs: list[Outcome]
    """The simulator's outcomes, one per seed."""
    ours: Outcome
    """Our outcome with the switches that make lightlag behave like the simulator."""
    plain: Outcome
    """Our outcome with the profile alone."""
    alike: Outcome | None = None
    """Our outcome with the simulator's different behaviour, for an outlier, if there is a switch for it."""

    @property
    def ratio(self) -> float:
        """Ratio of our goodput to theirs."""
        return self.ours.goodput_mbps / mean(self.theirs).goodput_mbps

    @property
    def plain_ratio(self) -> float:
        """Ratio of our goodput to theirs without the switches."""
        return self.plain.goodput_mbps / mean(self.theirs).goodput_mbps

    @property
    def spread(self) -> float:
        """Standard error of the simulator's goodput."""
        values = [outcome.goodput_mbps for outcome in self.theirs]
        return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0

    @property
    def is_outlier(self) -> bool:
        """Whether the goodput differs by more than a quarter."""
        return abs(self.ratio - 1) > FAR

    @property
    def difference(self) -> Difference | None:
        """The explanation of the ratio."""
        return difference(self.simulator, self.algorithm, self.cell, self.ratio)

    def verdict(self) -> str:
        """Returns how far the ratio is from one, or the reason for it."""
        off = abs(self.ratio - 1)
        if off <= CLOSE:
            return "within 10 %"
        named = self.difference
        name = f"*{named.name}*" if named else "unexplained"
        if off <= FAR:
            return "within 25 %" + (f": {name}" if named else "")
        if self.alike is None or named is None or named.proof is None:
            return f"outlier: {name}"
        ratio = self.alike.goodput_mbps / mean(self.theirs).goodput_mbps
        return f"outlier: {name}; {ratio:.2f} with {named.proof.text()}"


_HEAD = (
    "| RTT, loss | goodput, simulator | ours | ratio | retransmitted, simulator | ours | mean cwnd, simulator | ours | verdict |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
)


def table(rows: list[Row]) -> str:
    """Returns the table of all cells of an algorithm, which the command prints."""
    return "\n".join([*_HEAD, *("| " + " | ".join(_values(row)) + " |" for row in rows)])


def _values(row: Row) -> tuple[str, ...]:
    theirs = mean(row.theirs)
    shown = f"{theirs.goodput_mbps:.2f}" + (f" ± {row.spread:.2f}" if row.spread else "")
    return (
        str(row.cell),
        shown,
        f"{row.ours.goodput_mbps:.2f}",
        f"{row.ratio:.2f}",
        f"{theirs.retransmitted:.0f}",
        f"{row.ours.retransmitted:.0f}",
        f"{theirs.cwnd:.0f}",
        f"{row.ours.cwnd:.0f}",
        row.verdict(),
    )


def deviations(rows: list[Row]) -> str:
    """The cells that differ by more than 10 %."""
    head = [
        line.replace("|", f"| {text} |", 1) for line, text in zip(_HEAD, ("simulator | algorithm", "--- | ---"), strict=True)
    ]
    far = [row for row in rows if abs(row.ratio - 1) > CLOSE]
    return "\n".join([*head, *(f"| {' | '.join((row.simulator, row.algorithm, *_values(row)))} |" for row in far)])


def summary(rows: list[Row]) -> str:
    """One line per algorithm: the median of the ratios."""
    lines = [
        "| simulator | algorithm | median ratio | with the profile alone | cells within 10 % | outliers | unexplained |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (simulator, algorithm), group in groupby(rows, key=lambda row: (row.simulator, row.algorithm)):
        cells = list(group)
        close = sum(abs(row.ratio - 1) <= CLOSE for row in cells)
        outliers = [row for row in cells if row.is_outlier]
        unexplained = sum(row.difference is None for row in outliers)
        values = (
            simulator,
            algorithm,
            f"{median(row.ratio for row in cells):.2f}",
            f"{median(row.plain_ratio for row in cells):.2f}",
            f"{close} of {len(cells)}",
            str(len(outliers)),
            str(unexplained),
        )
        lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)


def page(rows: list[Row], versions: dict[str, str], missing: list[str]) -> str:
    """The complete text of docs/simulators.md."""
    outliers = [row for row in rows if row.is_outlier]
    counts = (
        len(rows),
        sum(abs(row.ratio - 1) <= CLOSE for row in rows),
        len(outliers),
        sum(row.difference is not None for row in outliers),
    )
    parts = [introduction(versions, counts, median(row.ratio for row in rows)), "## Medians\n", summary(rows)]
    if missing:
        parts.append(f"\nNot compared, because this build does not have them: {', '.join(missing)}.")
    parts += [f"\n## Cells that differ by more than {100 * CLOSE:g} %\n", deviations(rows)]
    named = [row.difference for row in rows if abs(row.ratio - 1) > CLOSE]
    parts += ["\n## Named differences\n", differences([entry for entry in DIFFERENCES if entry in named])]
    parts += ["\n## Settings\n", settings()]
    return "\n".join(parts) + "\n"


def introduction(versions: dict[str, str], counts: tuple[int, int, int, int], middle: float) -> str:
    """The verdict and the method. `counts` are cells, those within 10 %, outliers, and outliers with a cause."""
    named = " and ".join(f"{name} {version}" for name, version in versions.items())
    seconds = ", ".join(f"{cell.seconds} s at {cell.round_trip_ms} ms" for cell in CELLS if not cell.loss)
    cells, close, outliers, explained = counts
    return f"""# Comparison with ns-3 and ns-2

**{close} of {cells} goodputs of one flow are within {100 * CLOSE:g} % of {named}; the median ratio is {middle:.2f}.**
{outliers} differ by more than {100 * FAR:g} %. A behaviour of the other simulator explains {explained} of them:
see *Named differences*.

`make simulators` writes this page. It installs Debian's packages, builds the programs in `benchmarks/simulators`, runs each
scenario once, and prints the tables with all cells. It stores the results of ns-2 and ns-3 in `target/simulators`, so that a
second call runs lightlag alone.

One flow over {MEGABITS:g} Mbit/s, with a drop-tail queue of one BDP at the sender and independent losses of data
packets, simulated for {seconds}. Segments carry 1448 bytes, every second one is acknowledged, and the initial window is
10. With losses, a value is the mean of {SEEDS} seeds on each side (± standard error of the simulator's goodput), with the
same loss probability but different losses. Goodput is in Mbit/s at the receiver; the congestion window is its mean over
time in segments. The ratio is our goodput divided by the simulator's. Where lightlag has a switch for the simulator's behaviour,
the last column gives the ratio with it.
"""


def differences(shown: list[Difference]) -> str:
    """The causes of differences, one item each."""
    lines = [f"- *{entry.name}* ({entry.simulator}, {entry.algorithm}): {entry.why}" for entry in shown]
    lines.append(
        "- The number of retransmitted segments has a long tail. Where no random loss ends the first slow start, it\n"
        "  overshoots and loses up to one BDP, and a few seeds decide whether that happened."
    )
    return "\n".join(lines)


def settings() -> str:
    """Switches and profiles on our side."""
    lines = ["| simulator | algorithm | what the simulator does | set on our side |", "| --- | --- | --- | --- |"]
    for (simulator, algorithm), switch in SWITCHES.items():
        lines.append(f"| {simulator} | {algorithm} | {switch.why} | {switch.text()} |")
    profiles = " and ".join(f"`{profile['profile']}`" for profile in PROFILES.values())
    bounded = ", ".join(sorted(BOUNDED))
    return "\n".join(
        [
            *lines,
            "",
            f"All runs have the profiles {profiles} and large buffers. The window of {bounded} is limited to 2 BDP on both",
            "sides, because it floods an open path. The medians *with the profile alone* have none of these switches.",
        ]
    )
