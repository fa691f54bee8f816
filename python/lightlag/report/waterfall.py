"""The waterfall of a page as SVG: a bar for each object, and the fraction of the bytes that had arrived."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lightlag.records.page_load import LoadedObject, PageLoad, has_pages, page_load
from lightlag.report.page import text
from lightlag.text.quantities import size

if TYPE_CHECKING:
    from lightlag.records.records import Records

__all__ = ["waterfall"]

MAX_ROWS = 200
"""Maximum number of objects of the chart; a page with more shows the first ones."""
COLOURS = 8
"""Number of colours of the report's style."""
WIDTH, NAMES, ROW, CURVE = 960, 190, 16, 70
"""Width of the chart and of its names, height of a row and of the curve, in pixels at full width."""
MAX_NAME = 28
"""Maximum number of characters of a name."""


def waterfall(result: Records) -> str:
    """Returns the chart of the first load of a run's first page; nothing if no object of a page arrived."""
    if not has_pages(result) or result.objects.is_empty():
        return ""
    load = page_load(result)
    shown = load.objects[:MAX_ROWS]
    facts = [
        f"{_counted(len(load.objects), 'object')} over {_counted(len(load.connections), 'connection')}, "
        f"{size(sum(one.size for one in load.objects))}",
        "not complete at the end of the run" if load.took_s is None else f"loaded after {load.took_s:.4g} s",
    ]
    if load.byte_index_s is not None:
        facts.append(f"ByteIndex {load.byte_index_s:.4g} s")
    if len(shown) < len(load.objects):
        facts.append(f"the first {len(shown)} are shown")
    says = f"Load {load.page} of the page of {load.flow}: {'; '.join(facts)}."
    caption = (
        f"{says} Each colour is a connection. Grey: the request is queued, or its connection is set up. Light: from "
        "the request to the first byte. Dark: to the last byte. Below: the fraction of the bytes that had arrived."
    )
    height = ROW * len(shown) + CURVE + 56
    return (
        "<figure>"
        f'<svg viewBox="0 0 {WIDTH} {height}" width="100%" role="img" aria-label="{text(says)}" font-size="11">'
        f"{''.join(_parts(load, shown))}</svg><figcaption>{text(caption)}</figcaption></figure>"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _parts(load: PageLoad, shown: Sequence[LoadedObject]) -> Iterator[str]:
    end_s = max(load.end_s, load.took_s or 0.0) or 1.0
    scale = (WIDTH - NAMES - 20) / end_s
    below = ROW * len(shown) + 16
    bottom = below + CURVE

    def x(time_s: float) -> float:
        return NAMES + scale * time_s

    for tick_s in _ticks(end_s):
        yield f'<path d="M{x(tick_s):.1f} 0V{bottom}" stroke="var(--grid)"/>'
        yield (
            f'<text x="{x(tick_s):.1f}" y="{bottom + 16}" text-anchor="middle" fill="var(--grey)">{tick_s:.6g} s</text>'
        )
    colours = {name: f"var(--c{at % COLOURS})" for at, name in enumerate(load.connections)}
    for row, one in enumerate(shown):
        top, colour = ROW * row, colours[one.connection]
        name = one.name if len(one.name) <= MAX_NAME else f"{one.name[: MAX_NAME - 1]}…"
        about = (
            f"{one.name}: {size(one.size)} over {one.connection}, known {one.known_s:.4g} s, requested "
            f"{one.start_s:.4g} s, first byte {one.first_byte_s:.4g} s, complete {one.end_s:.4g} s"
        )
        yield f"<g><title>{text(about)}</title>"
        yield f'<text x="{NAMES - 6}" y="{top + 12}" text-anchor="end" fill="var(--ink)">{text(name)}</text>'
        for left, right, inset, look in (
            (one.known_s, one.start_s, 5, 'fill="var(--grey)" opacity="0.5"'),
            (one.start_s, one.first_byte_s, 2, f'fill="{colour}" opacity="0.4"'),
            (one.first_byte_s, one.end_s, 2, f'fill="{colour}" stroke="{colour}"'),
        ):
            yield (
                f'<rect x="{x(left):.1f}" y="{top + inset}" width="{max(scale * (right - left), 0.1):.1f}" '
                f'height="{ROW - 2 * inset}" {look}/>'
            )
        yield "</g>"
    corners = [f"{x(time_s):.1f},{bottom - CURVE * part:.1f}" for time_s, part in zip(*load.arrived(), strict=True)]
    yield f'<polyline points="{" ".join(corners)}" fill="none" stroke="var(--c0)" stroke-width="1.5"/>'
    yield f'<path d="M{NAMES} {bottom}H{WIDTH}" stroke="var(--grey)"/>'
    for part, height in (("100 %", below), ("0 %", bottom)):
        yield f'<text x="{NAMES - 6}" y="{height + 4}" text-anchor="end" fill="var(--grey)">{part}</text>'
    if load.took_s is not None:
        yield f'<path d="M{x(load.took_s):.1f} 0V{bottom}" stroke="var(--ink)" stroke-dasharray="2 3"/>'


def _ticks(end_s: float) -> list[float]:
    """Returns four to nine round times up to the end."""
    power = 10.0 ** math.floor(math.log10(end_s))
    step = next(factor * power for factor in (0.1, 0.2, 0.5, 1.0) if end_s / (factor * power) < 10)
    return [number * step for number in range(int(end_s / step + 1e-9) + 1)]
