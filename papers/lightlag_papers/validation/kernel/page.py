"""The page on the kernel's TCP."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Iterable, Sequence
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
"""A larger share of late deliveries says that the machine was too busy to judge times."""


ERROR_SHOWN = 0.005
"""Smaller standard errors of a ratio are left out."""


def kernel_page(found: Sequence[Cell]) -> Page:
    """The page."""
    late = sum(run.late for cell in found for run in cell.kernel)
    packets = sum(run.packets for cell in found for run in cell.kernel)
    judged = verdicts(found)
    parts = [
        "The running kernel's TCP sends between two network namespaces, through `lightlag emulate`; ours sends in the "
        "simulation of the same scenario, path.toml, with profile `linux`: one flow over one link. Losses hit the same "
        f"packets of the link in both. Where a queue may overflow, the simulated link has {JITTER} of jitter, as real "
        "packets have. Retransmissions are the kernel's `RetransSegs`, timeouts its `TCPTimeouts`, both at the moment "
        "at which the receiver's application has everything. The criteria were fixed beforehand. The command runs as "
        "root. The kernel does not repeat itself: figures change a little from one time to the next.\n",
        f"Linux {platform.release().partition('-')[0]}. {late:,} of {packets:,} packets were delivered more than 1 ms "
        "late.\n",
        markdown_table(
            ("criterion", "found", "verdict"),
            [(one.criterion, one.found, "holds" if one.holds else "**does not hold**") for one in judged],
        ),
    ]
    if late > BUSY * packets:
        parts.append(
            f"More than one delivery in {1 / BUSY:.0f} was late: the machine was busy with other work. Lateness slows "
            "the kernel's flow, and matters most where round trips and queues are short; measure again when idle.\n"
        )
    if cells := of_group(found, "pattern"):
        parts += _patterns(cells)
    if cells := of_group(found, "completion"):
        parts += _completions(cells)
    if cells := of_group(found, "bulk"):
        parts += _bulk(cells)
    if cells := of_group(found, "family"):
        parts += _families(cells)
    result = f"{sum(one.holds for one in judged)} of {len(judged)} criteria hold."
    return Page("The kernel's TCP", result, "lightlag validate kernel", "\n".join(parts))


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
        f"Transfers of {TRANSFER} segments at {RATE} with a queue that holds them all. A cell counts the patterns in "
        f"which the number of retransmissions and that of timeouts are the kernel's, those of most of its runs. In "
        f"{repeatable} of {len(cells)} cells the kernel repeats its own. The packets lost, counted as they leave, "
        f"those sent again too: {named}.\n",
        markdown_table(("algorithm", "SACK", *(f"{rtt} ms" for rtt in rtts)), table),
    ]
    if different := [cell for cell in cells if not cell.same_counts]:
        parts += [
            "Different, as retransmissions/timeouts:\n",
            markdown_table(
                ("pattern", "algorithm", "RTT", "SACK", "kernel", "lightlag"),
                [
                    (
                        cell.point.name,
                        cell.point.algorithm,
                        f"{cell.point.rtt_ms} ms",
                        "yes" if cell.point.sack else "no",
                        ", ".join(_unique(f"{run.retransmissions}/{run.timeouts}" for run in cell.kernel)),
                        "/".join(map(str, cell.our_counts)),
                    )
                    for cell in different
                ],
            ),
        ]
    return parts + _times(cells)


def _times(cells: Sequence[Cell]) -> list[str]:
    """The completion times of transfers with a pattern of losses."""
    scattered = sum(cell.depends_on_phase for cell in cells)
    parts = [
        f"Completion is {WITHIN} in {sum(cell.in_time for cell in cells)} of {len(cells)} cells. Timers tick every "
        "4 ms, from 252 ms on every 32 ms, and CUBIC computes its target once a tick: when a flow starts between two "
        "ticks decides a little of its time, and sometimes a round trip. So ours starts at "
        f"{PHASES} moments, {1e3 * PHASE_S:g} ms apart, and all runs but the first have {LATENESS} of jitter on the "
        f"link, for what forwarding takes. In {scattered} cells our times differ by more than the tolerance from one "
        "to the next.\n"
    ]
    if late := [cell for cell in cells if not cell.in_time]:
        parts += [
            "Outside, in ms:\n",
            markdown_table(
                ("pattern", "algorithm", "RTT", "SACK", "kernel", "lightlag"),
                [
                    (
                        cell.point.name,
                        cell.point.algorithm,
                        f"{cell.point.rtt_ms} ms",
                        "yes" if cell.point.sack else "no",
                        _span(cell.kernel_span_s),
                        _span(cell.our_span_s),
                    )
                    for cell in late
                ],
            ),
        ]
    return parts


def _span(span_s: tuple[float, float]) -> str:
    """A shortest and a longest time in ms.

    Examples
    --------
    >>> _span((0.1, 0.1002)), _span((0.1, 0.1234))
    ('100', '100–123')
    """
    return "–".join(_unique(f"{1e3 * time_s:.0f}" for time_s in span_s))


def _completions(cells: Sequence[Cell]) -> list[str]:
    sizes = _unique(cell.point.name for cell in cells)
    lines: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        text = f"{1e3 * cell.kernel_s:.0f} ({1e3 * (cell.ours_s - cell.kernel_s):+.0f})"
        place = (cell.point.algorithm, f"{cell.point.rtt_ms} ms")
        lines.setdefault(place, []).append(text if cell.in_time else f"**{text}**")
    return [
        "## Completion times\n",
        f"From the call of connect() to the last byte at the receiver's application, at {RATE} with a queue of one "
        "bandwidth-delay product: the kernel's time in ms, of the run with the fewest late deliveries, and in brackets "
        "how much later ours is. Columns are segments. Bold is what lies outside of all its runs in time.\n",
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
        "product unless the row says otherwise. Of the kernel's runs of a seed the one in the middle counts. "
        f"{_few_losses(rare)}BBR without SACK multiplies small differences: it has {CHAOTIC_SEEDS} seeds, "
        f"{_more_seeds()}, and runs once with each. Where it meets a short queue, the link has {EVEN_JITTER} of jitter "
        "for both: with less, what a machine adds decides when the flow locks into a phase without losses. A cell is "
        "our mean goodput by the kernel's, with the standard "
        f"error where it is above {ERROR_SHOWN:.1%}, and the kernel's in Mbit/s; then retransmissions/timeouts of all "
        "seeds together, ours : the kernel's.\n",
        markdown_table(
            ("algorithm", "path", *(f"{rtt} ms" for rtt in rtts)), [(*place, *texts) for place, texts in lines.items()]
        ),
    ]


def _families(cells: Sequence[Cell]) -> list[str]:
    rtts = _unique(cell.point.rtt_ms for cell in cells)
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for cell in cells:
        lines.setdefault((cell.point.name, cell.point.algorithm), {})[cell.point.rtt_ms] = _of_family(cell)
    rows = [(*place, *(texts.get(rtt, "") for rtt in sorted(rtts))) for place, texts in lines.items()]
    return [
        "## Families\n",
        f"Other paths and applications, at {BULK_RATE} with a queue of one bandwidth-delay product unless the name "
        f"says otherwise; {FAMILY_REPEATS} runs of the kernel each. {_described()} A cell is our mean goodput by the "
        "kernel's and the kernel's in Mbit/s, or the kernel's completion time in ms and how much later ours is; then "
        "retransmissions/timeouts, ours : the kernel's. Repeated SYNs are no retransmissions here. Bold is outside.\n",
        markdown_table(("family", "algorithm", *(f"{rtt} ms" for rtt in sorted(rtts))), rows),
    ]


def _described() -> str:
    """The families in words."""
    sizes = " and ".join(f"{size:,}" for size in BUFFERS)
    delays = ", ".join(map(str, DELAYS_MS))
    return (
        "**SYN** and **SYN-ACK lost**: the first packets of their direction. "
        f"**Receive buffer**: `tcp_rmem` of {sizes} bytes without tuning. Of such a buffer {PAYLOAD_SHARE:.3g} are "
        f"payload in packets of 1500 bytes from a TUN device, and the last segment takes {UNREAD} bytes of that until "
        "it is read; the rest is our `receive_buffer`. "
        "**Thin return link**: a fiftieth of the rate, and a queue of 300 packets. "
        f"**ACKs lost**: {LOST_ACKS:.0%} of the packets that return, those with the same numbers for both; the number "
        "is the seed. "
        "**Packets held back**: 1% of the packets arrive 10 ms late, behind others. "
        f"**Changing delay**: {delays} ms one way, 1.5 s each; packets overtake when it falls. "
        "**Writes**: so little at a time that the link idles in between. **Outages** begin after 3 s. "
        f"Short queues, marks and the changing delay have {NOISE[1]} of jitter for both, because runs without any lock "
        "into a phase there."
    )


def _of_family(cell: Cell) -> str:
    """A cell in short."""
    if cell.point.segments is None:
        text = f"{cell.ratio:.3f} ({cell.kernel_bps / 1e6:.2f}) {cell.sums(cell.ours)} : {cell.sums(cell.kernel)}"
    else:
        counts = ", ".join(_unique(f"{run.retransmissions}/{run.timeouts}" for run in cell.kernel))
        ours = "/".join(map(str, cell.our_counts))
        text = f"{1e3 * cell.kernel_s:.0f} ({1e3 * (cell.ours_s - cell.kernel_s):+.0f}) {ours} : {counts}"
    return f"**{text}**" if cell.is_outside else text


def _more_seeds() -> str:
    """The flows that have more than the others."""
    return ", ".join(f"{count} with {name} at {rtt_ms} ms" for (name, rtt_ms), count in MORE_CHAOTIC_SEEDS.items())


def _few_losses(cells: Sequence[Cell]) -> str:
    """The flows that random losses hit a few times only, and how far the kernel repeats itself there."""
    if not cells:
        return ""
    seeds = sum(len(cell.ours) for cell in cells)
    return (
        f"At {FEW_LOSSES_MS} ms random losses are few, and each has {FEW_LOSSES_SEEDS} seeds. The kernel itself ends "
        "differently there with the same losses, because a delivery that is 2 ms late breaks the train of ACKs by "
        "which HyStart ends slow start (the same happens here with 1 ms of jitter); so the run nearest to ours counts. "
        "It has our goodput to 1% with "
        f"{sum(cell.same_goodputs for cell in cells)} of {seeds} seeds. "
    )


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _numbers(drops: Sequence[int]) -> str:
    """Packet numbers in short.

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
