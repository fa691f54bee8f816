"""The page on the comparison with the kernel's TCP."""

from __future__ import annotations

import itertools
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from lightlag_papers.table import markdown_table
from lightlag_papers.validation.kernel.criteria import WITHIN, Cell, of_group, verdicts
from lightlag_papers.validation.kernel.families import (
    BUFFERS,
    DELAYS_MS,
    LOST_ACKS,
    NOISE,
    PAYLOAD_SHARE,
    UNREAD,
)
from lightlag_papers.validation.kernel.points import (
    BULK_RATE,
    BULK_S,
    CHAOTIC_SEEDS,
    EVEN_JITTER,
    FEW_LOSSES_MS,
    FEW_LOSSES_SEEDS,
    MORE_CHAOTIC_SEEDS,
    PATTERNS,
    RATE,
    TRANSFER,
)
from lightlag_papers.validation.kernel.runs import FAMILY_REPEATS, JITTER, LATENESS, PHASE_S, PHASES
from lightlag_papers.validation.pages import Page

T = TypeVar("T")

BUSY = 1e-3
"""Minimum fraction of late deliveries that means that the machine was too busy for verdicts on times."""


ERROR_SHOWN = 0.005
"""Minimum standard error of a ratio that is printed."""


def kernel_page(found: Sequence[Cell]) -> Page:
    """Returns the page."""
    late = sum(run.late for cell in found for run in cell.kernel)
    packets = sum(run.packets for cell in found for run in cell.kernel)
    checked = verdicts(found)
    parts = [
        "The running kernel's TCP sends between two network namespaces, through `lightlag emulate`; lightlag's TCP "
        "sends in the simulation of the same scenario, path.toml, with profile `linux`: one flow over one link. The "
        f"same packets are lost in both. Where a queue may overflow, the simulated link has {JITTER} of jitter, as "
        "real packets have. Retransmissions are the kernel's `RetransSegs`, timeouts its `TCPTimeouts`, both when "
        "the receiver's application has all data. The criteria were fixed in advance. The command runs as root; "
        "with `--json` it prints every cell. The kernel's results vary slightly between calls.\n",
        f"Linux {platform.release().partition('-')[0]}. {late:,} of {packets:,} packets were delivered more than 1 ms "
        "late.\n",
        markdown_table(
            ("criterion", "found", "verdict"),
            [(one.criterion, one.found, "holds" if one.holds else "**does not hold**") for one in checked],
        ),
    ]
    if late > BUSY * packets:
        parts.append(
            f"More than one delivery in {1 / BUSY:.0f} was late, because the machine was busy. Lateness slows the "
            "kernel's flow, most where round trips and queues are short; measure again when idle.\n"
        )
    if cells := of_group(found, "pattern"):
        parts += _patterns(cells)
    if cells := of_group(found, "completion"):
        parts += _completions(cells)
    if cells := of_group(found, "bulk"):
        parts += _bulk(cells)
    if cells := of_group(found, "family"):
        parts += _families(cells)
    result = f"{sum(one.holds for one in checked)} of {len(checked)} criteria hold."
    missed = [f"{one.criterion}: {one.found}" for one in checked if not one.holds]
    deviations = f"Not fulfilled: {'; '.join(missed)}." if missed else ""
    return Page("The kernel's TCP", result, "lightlag validate kernel", "\n".join(parts), deviations)


def _patterns(cells: Sequence[Cell]) -> list[str]:
    repeatable = sum(cell.repeats_itself for cell in cells)
    rtts = _unique(cell.point.rtt_ms for cell in cells)
    lines: dict[tuple[str, str], dict[int, list[Cell]]] = {}
    for cell in cells:
        row = lines.setdefault((cell.point.algorithm, "yes" if cell.point.sack else "no"), {})
        row.setdefault(cell.point.rtt_ms, []).append(cell)
    table = [
        (*place, *(f"{sum(cell.same_counts for cell in row[rtt])} of {len(row[rtt])}" for rtt in rtts))
        for place, row in lines.items()
    ]
    named = "; ".join(f"{name}: {_numbers(drops)}" for name, drops in PATTERNS.items())
    parts = [
        "## Exact patterns of losses\n",
        f"Transfers of {TRANSFER} segments at {RATE} with a queue that holds them all. A cell counts the patterns "
        f"with the kernel's numbers of retransmissions and timeouts, in most of its runs. In {repeatable} of "
        f"{len(cells)} cells all runs of the kernel agree. Patterns of lost packets, by transmission index including "
        f"retransmissions: {named}.\n",
        markdown_table(("algorithm", "SACK", *(f"{rtt} ms" for rtt in rtts)), table),
    ]
    if different := [cell for cell in cells if not cell.same_counts]:
        parts += _named("Different, as retransmissions/timeouts", different, lambda cell: (_counts(cell), _ours(cell)))
    return parts + _times(cells)


def _times(cells: Sequence[Cell]) -> list[str]:
    """Returns the section on the completion times of transfers with a loss pattern."""
    scattered = sum(cell.depends_on_phase for cell in cells)
    parts = [
        f"Completion is {WITHIN} in {sum(cell.in_time for cell in cells)} of {len(cells)} cells. Timers tick every "
        "4 ms, above 252 ms every 32 ms, and CUBIC computes its target once per tick, so the start between two "
        "ticks shifts the time slightly, and sometimes by a round trip. lightlag's flow therefore starts at "
        f"{PHASES} times, {1e3 * PHASE_S:g} ms apart, and all runs but the first have {LATENESS} of jitter on the "
        f"link, for the forwarding time. In {scattered} cells these times differ by more than the tolerance.\n"
    ]
    if late := [cell for cell in cells if not cell.in_time]:
        parts += _named("Outside, in ms", late, lambda cell: (_span(cell.kernel_span_s), _span(cell.our_span_s)))
    return parts


def _named(title: str, cells: Sequence[Cell], values: Callable[[Cell], tuple[str, str]]) -> list[str]:
    """Returns the table of the pattern cells that deviate, with the kernel's values and ours."""
    header = ("pattern", "algorithm", "RTT", "SACK", "kernel", "lightlag")
    points = [(cell.point, values(cell)) for cell in cells]
    rows = [
        (point.name, point.algorithm, f"{point.rtt_ms} ms", "yes" if point.sack else "no", *texts)
        for point, texts in points
    ]
    return [f"{title}:\n", markdown_table(header, rows)]


def _counts(cell: Cell) -> str:
    """Formats the retransmissions and timeouts of the kernel's runs."""
    return ", ".join(_unique(f"{run.retransmissions}/{run.timeouts}" for run in cell.kernel))


def _ours(cell: Cell) -> str:
    return "/".join(map(str, cell.our_counts))


def _span(span_s: tuple[float, float]) -> str:
    """Formats a shortest and a longest time in ms.

    Examples
    --------
    >>> _span((0.1, 0.1002)), _span((0.1, 0.1234))
    ('100', '100–123')
    """
    return "–".join(_unique(f"{1e3 * time_s:.0f}" for time_s in span_s))


def _completion(cell: Cell) -> str:
    """Formats the kernel's completion time in ms, and how much later ours is."""
    return f"{1e3 * cell.kernel_s:.0f} ({1e3 * (cell.ours_s - cell.kernel_s):+.0f})"


def _completions(cells: Sequence[Cell]) -> list[str]:
    sizes = _unique(cell.point.name for cell in cells)
    lines: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        text = _completion(cell)
        place = (cell.point.algorithm, f"{cell.point.rtt_ms} ms")
        lines.setdefault(place, []).append(text if cell.in_time else f"**{text}**")
    return [
        "## Completion times\n",
        f"From the call of connect() to the last byte at the receiver's application, at {RATE} with a queue of one "
        "bandwidth-delay product: the kernel's time in ms, in the run with the fewest late deliveries, and in "
        "brackets the difference of lightlag's. Columns are segments. Bold is outside the span of the kernel's "
        "runs.\n",
        markdown_table(("algorithm", "RTT", *sizes), [(*place, *texts) for place, texts in lines.items()]),
    ]


def _bulk(cells: Sequence[Cell]) -> list[str]:
    rtts = _unique(cell.point.rtt_ms for cell in cells)
    lines: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        text = f"{cell.ratio:.3f} ({cell.kernel_bps / 1e6:.2f})"
        if cell.error > ERROR_SHOWN:
            text = text.replace(" (", f" ± {cell.error:.3f} (")
        if cell.deviates:
            text = f"**{text}**"
        text += f" {cell.sums(cell.ours)} : {cell.sums(cell.kernel)}"
        name = cell.point.name if cell.point.sack else f"{cell.point.name}, no SACK"
        lines.setdefault((cell.point.algorithm, name), []).append(text)
    seeds = min(len(cell.ours) for cell in cells if cell.point.loss)
    rare = [cell for cell in cells if cell.point.has_few_losses]
    return [
        "## Bulk flows\n",
        f"{BULK_S} s at {BULK_RATE}, {seeds} seeds where losses are random; the queue holds one bandwidth-delay "
        "product unless the row specifies another. The median of the kernel's runs of a seed is used. "
        f"{_few_losses(rare)}BBR without SACK is sensitive to small differences: it has {CHAOTIC_SEEDS} seeds, "
        f"{_more_seeds()}, and one run for each. With a short queue, the link has {EVEN_JITTER} of jitter for both; "
        "otherwise the machine's jitter decides when the flow locks into a phase without losses. A cell is our mean "
        f"goodput divided by the kernel's, with the standard error where it is above {ERROR_SHOWN:.1%}, and the "
        "kernel's in Mbit/s; then the total retransmissions/timeouts of all seeds, ours : the kernel's.\n",
        markdown_table(
            ("algorithm", "path", *(f"{rtt} ms" for rtt in rtts)), [(*place, *texts) for place, texts in lines.items()]
        ),
    ]


def _families(cells: Sequence[Cell]) -> list[str]:
    outside = [cell for cell in cells if cell.is_outside]
    counts = Counter(cell.point.name for cell in cells)
    parts = [
        "## Families\n",
        f"Other paths and applications, at {BULK_RATE} with a queue of one bandwidth-delay product unless the name "
        f"specifies another; {FAMILY_REPEATS} runs of the kernel each. {_described()} Retransmitted SYNs are not "
        "counted.\n",
        f"{len(cells) - len(outside)} of {len(cells)} cells are inside{_ranges(cells)}. Number of cells: "
        f"{'; '.join(f'{name}: {count}' for name, count in counts.items())}.\n",
    ]
    if outside:
        rows = [
            (cell.point.name, cell.point.algorithm, f"{cell.point.rtt_ms} ms", _of_family(cell)) for cell in outside
        ]
        parts += [
            "Outside: our mean goodput divided by the kernel's and the kernel's in Mbit/s, or the kernel's completion "
            "time in ms and the difference of ours; then retransmissions/timeouts, ours : the kernel's.\n",
            markdown_table(("family", "algorithm", "RTT", "cell"), rows),
        ]
    return parts


def _ranges(cells: Sequence[Cell]) -> str:
    """Returns the ranges of goodputs and completion times in the cells that meet their criterion."""
    inside = [cell for cell in cells if not cell.is_outside]
    ratios = [cell.ratio for cell in inside if cell.point.segments is None]
    late_ms = [1e3 * (cell.ours_s - cell.kernel_s) for cell in inside if cell.point.segments is not None]
    texts = []
    if ratios:
        texts.append(f"goodput {min(ratios):.3f} to {max(ratios):.3f} of the kernel's")
    if late_ms:
        texts.append(f"completion {min(late_ms):+.0f} to {max(late_ms):+.0f} ms from the kernel's")
    return f": {', '.join(texts)}" if texts else ""


def _described() -> str:
    """Returns the families in words."""
    sizes = " and ".join(f"{size:,}" for size in BUFFERS)
    delays = ", ".join(map(str, DELAYS_MS))
    return (
        "**SYN** and **SYN-ACK lost**: the first packets of their direction. **Receive buffer**: `tcp_rmem` of "
        f"{sizes} bytes without tuning. The payload is a fraction of {PAYLOAD_SHARE:.3g} of such a buffer in packets "
        f"of 1500 bytes from a TUN device, and the last segment takes {UNREAD} bytes of it until it is read; the "
        "rest is our `receive_buffer`. **Thin return link**: a fiftieth of the rate, and a queue of 300 packets. "
        f"**ACKs lost**: {LOST_ACKS:.0%} of the returning packets, the same for both; the number is the seed. "
        f"**Delayed packets**: 1% of the packets arrive 10 ms late, after later ones. **Changing delay**: {delays} "
        "ms one way, 1.5 s each; packets overtake when it falls. **Writes** are so small that the link is idle "
        f"between them. **Outages** start after 3 s. Short queues, marks and the changing delay have {NOISE[1]} of "
        "jitter for both, because runs without jitter lock into a phase there."
    )


def _of_family(cell: Cell) -> str:
    """Returns a short description of a cell."""
    if cell.point.segments is None:
        return f"{cell.ratio:.3f} ({cell.kernel_bps / 1e6:.2f}) {cell.sums(cell.ours)} : {cell.sums(cell.kernel)}"
    return f"{_completion(cell)} {_ours(cell)} : {_counts(cell)}"


def _more_seeds() -> str:
    """Returns a text on the flows with more seeds than the others."""
    return ", ".join(f"{count} with {name} at {rtt_ms} ms" for (name, rtt_ms), count in MORE_CHAOTIC_SEEDS.items())


def _few_losses(cells: Sequence[Cell]) -> str:
    """Returns a text on the flows with only a few random losses, and on how similar the kernel's runs are there."""
    if not cells:
        return ""
    seeds = sum(len(cell.ours) for cell in cells)
    return (
        f"At {FEW_LOSSES_MS} ms random losses are few, and each has {FEW_LOSSES_SEEDS} seeds. There the kernel's own "
        "results vary with the same losses, because a delivery that is 2 ms late interrupts the ACK train by which "
        "HyStart ends slow start (as in lightlag with 1 ms of jitter); so the run nearest to ours is used. It has "
        f"our goodput to 1% with {sum(cell.same_goodputs for cell in cells)} of {seeds} seeds. "
    )


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _numbers(drops: Sequence[int]) -> str:
    """Formats a list of packet numbers in a short form.

    Examples
    --------
    >>> _numbers((1,)), _numbers((41, 42, 43)), _numbers((31, 33, 35)), _numbers((5, 9, 10))
    ('1', '41–43', '31, 33 … 35', '5, 9, 10')
    """
    steps = {after - before for before, after in itertools.pairwise(drops)}
    if len(drops) < 3 or len(steps) > 1:
        return ", ".join(map(str, drops))
    if steps == {1}:
        return f"{drops[0]}–{drops[-1]}"
    return f"{drops[0]}, {drops[1]} … {drops[-1]}"
