"""The tables of a comparison, and the page docs/peers.md."""

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
    """One algorithm in one cell, beside one peer."""

    peer: str
    algorithm: str
    cell: Cell
    theirs: list[Outcome]
    """One outcome a seed."""
    ours: Outcome
    """With the switches that make us do what the peer does."""
    plain: Outcome
    """With the profile alone."""
    alike: Outcome | None = None
    """The ratio of an outlier with the peer's different behaviour, if we have a switch for it."""

    @property
    def ratio(self) -> float:
        """Our goodput over theirs."""
        return self.ours.goodput_mbps / mean(self.theirs).goodput_mbps

    @property
    def plain_ratio(self) -> float:
        """The same without the switches."""
        return self.plain.goodput_mbps / mean(self.theirs).goodput_mbps

    @property
    def spread(self) -> float:
        """Standard error of their goodput."""
        values = [outcome.goodput_mbps for outcome in self.theirs]
        return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0

    @property
    def is_outlier(self) -> bool:
        """Whether the goodput differs by more than a quarter."""
        return abs(self.ratio - 1) > FAR

    @property
    def difference(self) -> Difference | None:
        """The explanation of the ratio."""
        return difference(self.peer, self.algorithm, self.cell, self.ratio)

    def verdict(self) -> str:
        """Its distance, or the reason for it."""
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
    "| RTT, loss | goodput, peer | ours | ratio | sent again, peer | ours | mean cwnd, peer | ours | verdict |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
)


def table(rows: list[Row]) -> str:
    """The cells of an algorithm."""
    lines = [*_HEAD]
    for row in rows:
        theirs = mean(row.theirs)
        shown = f"{theirs.goodput_mbps:.2f}" + (f" ± {row.spread:.2f}" if row.spread else "")
        cells = (
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
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """One line an algorithm: the median of the ratios."""
    lines = [
        "| peer | algorithm | median ratio | with the profile alone | cells within 10 % | outliers | unexplained |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (peer, algorithm), group in groupby(rows, key=lambda row: (row.peer, row.algorithm)):
        cells = list(group)
        close = sum(abs(row.ratio - 1) <= CLOSE for row in cells)
        outliers = [row for row in cells if row.is_outlier]
        unexplained = sum(row.difference is None for row in outliers)
        values = (
            peer,
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
    """The whole of docs/peers.md."""
    parts = [_introduction(versions), "## Medians\n", summary(rows)]
    if rows:
        parts.append(f"\nThe median of all {len(rows)} ratios is {median(row.ratio for row in rows):.2f}.")
    if missing:
        parts.append(f"\nNot compared, because this build does not have them: {', '.join(missing)}.")
    parts += ["\n## What is set\n", _settings()]
    parts += ["\n## Named differences\n", _differences(rows)]
    for peer, of_peer in groupby(rows, key=lambda row: row.peer):
        parts.append(f"\n## {peer} {versions[peer]}")
        for algorithm, group in groupby(of_peer, key=lambda row: row.algorithm):
            parts.append(f"\n### {algorithm}\n\n{table(list(group))}")
    return "\n".join(parts) + "\n"


def _introduction(versions: dict[str, str]) -> str:
    named = " and ".join(f"{name} {version}" for name, version in versions.items())
    seconds = ", ".join(f"{cell.seconds} s at {cell.round_trip_ms} ms" for cell in CELLS if not cell.loss)
    return f"""# Beside ns-3 and ns-2

One flow in lightlag, and the same flow in {named}. The command `make peers`
writes this page. It installs Debian's packages, builds the programs in `benchmarks/peers`, which are our own, and
runs each scenario once. It keeps the peers' results in `target/peers`, so that a second call runs lightlag alone.

One flow over {MEGABITS:g} Mbit/s, with a drop-tail queue of one BDP at the sender and independent losses of data
packets, simulated for {seconds}.
Segments carry 1448 bytes, every second one is acknowledged, the initial window is 10. With losses a number is the
mean of {SEEDS} seeds on each side (± standard error of the peer's goodput): the same probability, other losses. Goodput is in Mbit/s at the receiver, the mean congestion window in segments over time. The
ratio is our goodput over the peer's.

A peer is not the truth. A difference is explained by what the peer's program does, and where we have a switch for
that, the switch was set to show that it is the reason.
"""


def _differences(rows: list[Row]) -> str:
    """Those that the tables name."""
    named = [row.difference for row in rows if abs(row.ratio - 1) > CLOSE]
    shown = [entry for entry in DIFFERENCES if entry in named]
    lines = [f"- *{entry.name}* ({entry.peer}, {entry.algorithm}): {entry.why}" for entry in shown]
    lines.append(
        "- Numbers of segments sent again have a long tail: where no random loss ends the first slow start, it\n"
        "  overshoots and loses up to a BDP at once. A few seeds decide whether that happened."
    )
    return "\n".join(lines)


def _settings() -> str:
    lines = ["| peer | algorithm | what the peer does | set on our side |", "| --- | --- | --- | --- |"]
    for (peer, algorithm), switch in SWITCHES.items():
        lines.append(f"| {peer} | {algorithm} | {switch.why} | {switch.text()} |")
    profiles = " and ".join(f"`{profile['profile']}`" for profile in PROFILES.values())
    bounded = ", ".join(sorted(BOUNDED))
    return "\n".join(
        [
            *lines,
            "",
            f"Beside these the profiles {profiles}, with large buffers. What {bounded} may have in flight is",
            "bounded to 2 BDP on both sides, because it floods an open path. The column *with the profile alone* of",
            "the medians has none of these switches.",
        ]
    )
