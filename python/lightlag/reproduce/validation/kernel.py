"""The running kernel's TCP over an emulated path, beside our TCP over the simulated one.

Both come from the same file, ``kernel.toml``: the links, with the same random stream of losses, so that in both worlds
the same packets of the link are lost, counted from the first. ``lightlag validate kernel`` writes the table of goodput
ratios into its section of ``docs/validation.md``.
"""

from __future__ import annotations

import itertools
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import lightlag as ll
from lightlag.emulation import device, emulate
from lightlag.errors import InputError
from lightlag.namespaces import allowed, command, namespaces
from lightlag.reproduce.table import markdown_table
from lightlag.reproduce.validation import marked

FOLDER = Path(__file__).parent
SCENARIO = FOLDER / "kernel.toml"
BULK = FOLDER / "bulk.py"

ALGORITHMS = {"reno": "newreno", "cubic": '{ algorithm = "cubic", variant = "linux" }', "bbr": "bbr"}
"""The kernel's names, and ours. The kernel's CUBIC is not that of RFC 9438: its Reno-friendly window always grows by
α = 0.53 a round trip, where the RFC goes on with 1 beyond the window before the loss."""
RTTS_MS = (20, 80, 200)
LOSSES = (0.0, 0.001, 0.01)
SECONDS = 30
JOBS = 6
MEDIAN, WORST = 0.05, 0.20
"""How far the median of the cells, and each of them, may be from 1."""

BUSY = 1e-3
"""A larger share of late deliveries says that the machine was too busy to judge."""

ADDRESSES = ("10.77.0.1", "10.77.0.2")
PORT = 5201

SETTINGS: dict[str, object] = {
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_rmem": "4096 8388608 8388608",
    "net.ipv4.tcp_wmem": "4096 4194304 4194304",
    "net.ipv4.tcp_moderate_rcvbuf": 0,
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
}
"""Inside the namespaces only. Buffers are fixed, and nothing is remembered from one connection to the next. Half of the
receive buffer is window. Without IPv6 no packet but those of the flow crosses the path."""


@dataclass(frozen=True)
class Point:
    """One run: the kernel's algorithm, the round trip without queues, the losses, the seed."""

    algorithm: str
    rtt_ms: int
    loss: float
    seed: int

    def sets(self) -> dict[str, str]:
        """The changes to the scenario file."""
        return {
            "defaults.tcp.congestion": ALGORITHMS[self.algorithm],
            "links.0.delay": f"{self.rtt_ms / 2:g} ms",
            "links.0.loss.forward": f"{self.loss:g}",
            "duration": f"{SECONDS} s",
            "seed": str(self.seed),
        }


@dataclass(frozen=True)
class Measured:
    """Goodput of a point in both worlds, in bit/s, and how late the emulation was."""

    point: Point
    kernel_bps: float
    ours_bps: float
    late: int
    packets: int


@dataclass(frozen=True)
class Cell:
    """The runs of one place in the table."""

    runs: tuple[Measured, ...]

    @property
    def kernel_bps(self) -> float:
        """The mean of the kernel's goodput."""
        return statistics.fmean(run.kernel_bps for run in self.runs)

    @property
    def ratio(self) -> float:
        """Our mean goodput by the kernel's."""
        return statistics.fmean(run.ours_bps for run in self.runs) / self.kernel_bps


def simulated(point: Point) -> float:
    """The goodput of our TCP, in bit/s."""
    result = ll.run(SCENARIO, sets=point.sets())
    return float(result.summary["flows"][0]["goodput_bps"])


def real(point: Point) -> tuple[float, int, int]:
    """The goodput of the kernel's TCP, in bit/s; late deliveries, and all."""
    bulk = [sys.executable, "-S", str(BULK)]
    with namespaces("llk", settings=SETTINGS) as (left, right):
        ends = tuple(device(f"ns:{name}", (f"{ip}/24",)) for name, ip in zip((left, right), ADDRESSES, strict=True))
        with emulate(SCENARIO, (ends[0], ends[1]), sets=point.sets()) as emulation:
            server = [*bulk, "receive", ADDRESSES[1], str(PORT), str(SECONDS)]
            client = [*bulk, "send", ADDRESSES[1], str(PORT), point.algorithm]
            with subprocess.Popen(
                command(right, server), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as receiver:
                try:
                    assert receiver.stdout is not None
                    receiver.stdout.readline()
                    with subprocess.Popen(command(left, client), stderr=subprocess.PIPE, text=True) as sender:
                        try:
                            out, complaint = receiver.communicate(timeout=10 * SECONDS)
                        finally:
                            sender.kill()
                finally:
                    receiver.kill()
            if receiver.returncode != 0 or not out.strip():
                raise OSError(f"{point}: {complaint.strip() or 'the receiver ended without a result'}")
            directions = emulation.statistics()["directions"]
    late, packets = (sum(one[key] for one in directions) for key in ("late_packets", "delivered_packets"))
    return 8 * int(out) / SECONDS, late, packets


def measure(point: Point) -> Measured:
    """The point in both worlds."""
    kernel_bps, late, packets = real(point)
    return Measured(point, kernel_bps, simulated(point), late, packets)


def cells(seeds: int, jobs: int, progress: Callable[[str], object]) -> list[Cell]:
    """Every cell of the table, so many runs at a time."""
    places = list(itertools.product(ALGORITHMS, RTTS_MS, LOSSES))
    points = [Point(*place, seed) for place in places for seed in range(1, seeds + 1)]
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(measure, point) for point in points]
        try:
            for done, _ in enumerate(as_completed(futures), start=1):
                progress(f"the kernel's TCP over emulated paths: {done} of {len(points)} runs")
            measured = [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)
    return [Cell(tuple(measured[at : at + seeds])) for at in range(0, len(measured), seeds)]


def validate(
    out: str | os.PathLike[str], *, seeds: int | None = None, jobs: int | None = None, quiet: bool = True
) -> list[str]:
    """Measure every cell and write the section of the page; a line for everything that is outside its tolerance.

    Parameters
    ----------
    out
        The page; only the kernel's section of it changes.
    seeds
        Runs of each cell, 3 by default.
    jobs
        Runs at a time, 6 by default: they take little time, and each has namespaces of its own.
    quiet
        Print nothing.
    """
    from lightlag.reproduce.paper import status

    path = Path(out)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it, or name another file with --out")
    if reason := allowed():
        raise OSError(f"{reason}; the kernel's TCP is measured between two namespaces, as root")
    with status(shown=not quiet) as progress:
        found = cells(3 if seeds is None else seeds, JOBS if jobs is None else jobs, progress)
    page = path.read_text("utf-8") if path.exists() else ""
    path.write_text(marked.with_section(page, section(found)), "utf-8")
    if not quiet:
        _print(found)
        print(f"{path}: the section on the kernel is written")
    return failures(found)


def failures(found: Sequence[Cell]) -> list[str]:
    """What is outside its tolerance."""
    lines = [f"{_place(cell)}: {cell.ratio:.3f}" for cell in found if abs(cell.ratio - 1) > WORST]
    median = _median(found)
    return lines if median <= MEDIAN else [f"median deviation {median:.1%}", *lines]


def section(found: Sequence[Cell]) -> str:
    """The section of the page, between its marks."""
    seeds = len(found[0].runs)
    late = sum(run.late for cell in found for run in cell.runs)
    packets = sum(run.packets for cell in found for run in cell.runs)
    worst = max(found, key=lambda cell: abs(cell.ratio - 1))
    outside = [cell for cell in found if abs(cell.ratio - 1) > WORST]
    parts = [
        "## The kernel's TCP\n",
        "A bulk flow of the running kernel's TCP between two network namespaces, through `lightlag emulate`, and the "
        f"same scenario in simulation with profile `linux`: {SCENARIO.name}, 10 Mbit/s, a queue of one "
        f"bandwidth-delay product, {SECONDS} s, {seeds} seeds. A cell is our mean goodput by the kernel's, with "
        "the kernel's in Mbit/s. The losses of a seed hit the same packets of the link in both. This section is "
        "written by\n\n    lightlag validate kernel\n\nas root, and the kernel is not repeatable: figures change a "
        "little from one time to the next.\n",
        f"Linux {platform.release()}, version {ll.__version__}. The median cell deviates by {_median(found):.1%} "
        f"(target: {MEDIAN:.0%}), the worst by {abs(worst.ratio - 1):.1%} (target: {WORST:.0%}): {_place(worst)}. "
        f"{late:,} of {packets:,} packets were delivered more than 1 ms late.\n",
        markdown_table(("algorithm", "loss", *(f"{rtt} ms" for rtt in RTTS_MS)), _lines(found)),
    ]
    if outside:
        parts.append("Outside: " + "; ".join(f"{_place(cell)} ({cell.ratio:.2f})" for cell in outside) + ".\n")
    if late > BUSY * packets:
        parts.append(
            f"More than one delivery in {1 / BUSY:.0f} was late: the machine was busy with other work. Lateness slows "
            "the kernel's flow, and counts most where round trips and queues are short; measure again when idle.\n"
        )
    return marked.section("kernel", "\n".join(parts))


def _median(found: Sequence[Cell]) -> float:
    """The median of the deviations."""
    return statistics.median(abs(cell.ratio - 1) for cell in found)


def _place(cell: Cell) -> str:
    point = cell.runs[0].point
    return f"{point.algorithm}, loss {point.loss:g}, RTT {point.rtt_ms} ms"


def _lines(found: Sequence[Cell]) -> list[tuple[str, ...]]:
    lines: dict[tuple[str, str], list[str]] = {}
    for cell in found:
        point = cell.runs[0].point
        text = f"{cell.ratio:.3f} ({cell.kernel_bps / 1e6:.2f})"
        if abs(cell.ratio - 1) > WORST:
            text = f"**{text}**"
        lines.setdefault((point.algorithm, f"{point.loss:g}"), []).append(text)
    # Cells come by algorithm, round trip and loss.
    return [(*place, *texts) for place, texts in lines.items()]


def _print(found: Sequence[Cell]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("algorithm", "loss", *(f"{rtt} ms" for rtt in RTTS_MS), title="our goodput / the kernel's (Mbit/s)")
    for line in _lines(found):
        table.add_row(*line)
    Console().print(table)
