"""The facts of several files of one path on one time axis: a file for each direction, and a file of delays.

If two files have times since 1970, and these overlap, the result has their common time. Otherwise both start at 0, and
a note states it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import Found, Measured, Row, Side
from lightlag.text.terminal import printable

__all__ = ["delays", "directions"]

PACKET_BITS = 12_000
"""Bits of a delivery opportunity of mahimahi."""
BIN_MS = 20
"""Length in milliseconds of the intervals in which delivery opportunities are counted as a rate."""
MAX_GAP = 5
"""Maximum number of intervals without an opportunity that share the rate of the next one.

More are an outage, which damages the packet in transmission; mahimahi makes it wait.
"""
_LAST_DATE_S = 250e9
"""End of the calendar in the year 9892, in seconds since 1970."""
_SIDES: tuple[Side, Side] = ("forward", "backward")
_OTHER: Mapping[Side, Side] = {"forward": "backward", "backward": "forward"}


def directions(path: Path, down: Found, up_path: Path, up: Found) -> Found:
    """Returns the facts of a path from one file for each direction. The first file is for the direction to the client.

    Raises
    ------
    InputError
        If a file has no rates, or has both directions.
    """
    notes: list[str] = []
    named: tuple[tuple[Path, Found, Side], ...] = ((path, down, "backward"), (up_path, up, "forward"))
    for file, one, side in named:
        _check_rate(file, one, "--up")
        if one.other is not None and one.other.rate is not None:
            texts.fail(file, "has the rates of both directions; leave --up out")
        if one.side not in (None, side) and one.opportunities is None:
            notes.append(f"{printable(file.name)} itself is of the opposite direction; --up decides.")
    if down.is_udp != up.is_udp:
        notes.append("One of the tests sent datagrams and the other used TCP.")
    start_s, duration_s = _common((path, down), (up_path, up), notes)
    down, up = _from(down, start_s, duration_s), _from(up, start_s, duration_s)
    down = replace(down, side="backward", is_backward=True, loss=_of_side(down.loss, "backward"))
    up = replace(up, side="forward", is_backward=False, loss=_of_side(up.loss, "forward"), other=None)
    if down.load is not None:
        # The requests of a page are sent by its own flow.
        up = replace(up, has_flow=False)
    title = f"{down.title} To the server: {_lower(up.title)[:-1]}, from {printable(up_path.name)}."
    every = list(dict.fromkeys([*down.notes, *up.notes, *notes]))
    return replace(down, title=title, notes=every, other=up, delay=down.delay or up.delay)


def delays(path: Path, found: Found, delays_path: Path, given: Found) -> Found:
    """Returns the facts of a path with the delays and losses of another file, in each direction.

    Raises
    ------
    InputError
        If the first file has no rate, or the second has neither a delay nor a loss.
    """
    _check_rate(path, found, "--delays")
    ways = _ways(given)
    if given.delay is None and not given.loss and not any(ways.values()):
        texts.fail(
            delays_path, "has no delay and no loss; name the output of ping or irtt, a table or a list of delays"
        )
    notes: list[str] = []
    timed = replace(given, rows=[*ways["forward"], *ways["backward"]], opportunities=None)
    start_s, duration_s = _common((path, found), (delays_path, timed), notes)
    other = found.other
    if other is None and found.side is not None:
        other = Found("", side=_OTHER[found.side], has_flow=False)
    both = [found] if other is None else [found, other]
    if start_s is not None and found.has_flow:
        notes.append(
            "Delays that were measured during a transfer may include its queue, which the scenario then has twice."
        )
    merged = []
    for one in both:
        # Directions of one file start together.
        one = _from(replace(one, origin_s=found.origin_s), start_s, duration_s)
        rows = ways["forward"] if one.side is None else ways[one.side]
        rows = _cut(rows, _shift(given, start_s), duration_s)
        if one.opportunities is not None and rows:
            one = replace(one, rows=list(_counted(one.opportunities, duration_s)), opportunities=None)
            notes.append(
                f"A trace of mahimahi has no delays: its opportunities are counted as a rate in intervals of {BIN_MS} "
                "ms, and it does not repeat."
            )
        merged.append(replace(one, rows=_joined(one.rows, rows), loss={} if given.loss else one.loss))
    first = merged[0]
    return replace(
        first,
        title=f"{first.title} Delays: {_lower(given.title)[:-1]}, from {printable(delays_path.name)}.",
        notes=list(dict.fromkeys([*first.notes, *given.notes, *notes])),
        other=merged[1] if len(merged) > 1 else None,
        delay=given.delay or found.delay,
        loss=given.loss or first.loss,
    )


def _lower(title: str) -> str:
    """Returns a sentence as a part of another one."""
    return title[:1].lower() + title[1:]


def _check_rate(path: Path, found: Found, option: str) -> None:
    if found.written is not None or found.motion is not None:
        texts.fail(path, f"is not a measurement of one link; leave {option} out")
    if found.rate is None:
        texts.fail(path, f"has no rate; with {option} the first file has rates, and --delays FILE names the delays")


def _of_side(losses: Mapping[Side, Measured], side: Side) -> dict[Side, Measured]:
    """Returns the loss of a file of one direction as the loss of another direction."""
    loss = losses.get(side) or next(iter(losses.values()), None)
    return {} if loss is None else {side: loss}


def _ways(given: Found) -> dict[Side, list[Row]]:
    """Returns the delays and losses of each direction over time."""
    parts = [given] if given.other is None else [given, given.other]
    return {
        side: [
            Row(row.time_s, None, row.delay_s, row.loss)
            for one in parts
            if one.side is None or one.side == side or len(parts) == 1
            for row in one.rows
            if row.delay_s is not None or row.loss is not None
        ]
        for side in _SIDES
    }


def _shift(found: Found, start_s: float | None) -> float:
    """Returns the seconds of a file before the start of the common time."""
    return 0.0 if start_s is None or found.origin_s is None else start_s - found.origin_s


def _common(first: tuple[Path, Found], second: tuple[Path, Found], notes: list[str]) -> tuple[float | None, float]:
    """Returns the start since 1970 of the time that two files have in common, and its length.

    The start is None if the files do not say when they were measured, or were not measured at the same time.
    """
    (path, one), (other_path, other) = first, second
    names = f"{printable(path.name)} and {printable(other_path.name)}"
    # A file whose values do not change has no length that matters.
    lengths = [file.duration_s for file in (one, other) if _changes(file)]
    length = min(lengths) if lengths else one.duration_s
    ends = ", and the shorter one ends the scenario" if len(lengths) > 1 else ""
    origins = [file.origin_s for file in (one, other) if file.origin_s is not None and file.origin_s < _LAST_DATE_S]
    if len(origins) < 2:
        if lengths:
            notes.append(f"{names} have no common clock: both start at 0{ends}.")
        return None, length
    start = max(origins)
    end = min(origins[0] + one.duration_s, origins[1] + other.duration_s)
    if end - start <= 0:
        notes.append(
            f"{names} were not measured at the same time: {start - end:.6g} s lie between them. Both start at 0{ends}."
        )
        return None, length
    when = datetime.fromtimestamp(start, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    notes.append(f"{names} have {end - start:.6g} s in common, starting at {when}; the rest is left out.")
    return start, round(end - start, 6)


def _changes(found: Found) -> bool:
    return (
        len(found.rows) > 1
        or found.opportunities is not None
        or (found.other is not None and len(found.other.rows) > 1)
    )


def _from(found: Found, start_s: float | None, duration_s: float) -> Found:
    """Returns the facts of the common time."""
    shift = _shift(found, start_s)
    return replace(
        found,
        rows=_cut(found.rows, shift, duration_s),
        duration_s=duration_s,
        origin_s=None if found.origin_s is None else found.origin_s + shift,
    )


def _cut(rows: Sequence[Row], shift: float, duration_s: float) -> list[Row]:
    """Returns the rows since a time; the values that hold at that time start at 0."""
    kept: list[Row] = []
    for row in rows:
        # A number of seconds since 1970 has a resolution of 0.2 µs.
        time_s = round(row.time_s - shift, 6)
        if time_s >= duration_s and kept:
            break
        if time_s <= 0:
            before = kept.pop() if kept else Row(0.0)
            kept.append(_over(before, row, 0.0))
        else:
            kept.append(replace(row, time_s=time_s))
    return kept


def _over(before: Row, row: Row, time_s: float) -> Row:
    """Returns the values of a row, and of an earlier one where the row has none."""
    return Row(
        time_s,
        before.rate_bps if row.rate_bps is None else row.rate_bps,
        before.delay_s if row.delay_s is None else row.delay_s,
        before.loss if row.loss is None else row.loss,
    )


def _joined(rates: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """Returns the rows of two series in the order of time. The second one has the delays and losses."""
    if not others:
        return list(rates)
    has_delay = any(row.delay_s is not None for row in others)
    has_loss = any(row.loss is not None for row in others)
    kept = [
        Row(row.time_s, row.rate_bps, None if has_delay else row.delay_s, None if has_loss else row.loss)
        for row in rates
    ]
    joined: list[Row] = []
    for row in sorted([*kept, *others], key=lambda row: row.time_s):
        if joined and joined[-1].time_s == row.time_s:
            joined[-1] = _over(joined[-1], row, row.time_s)
        else:
            joined.append(row)
    return joined


def _counted(opportunities: str, duration_s: float) -> Iterator[Row]:
    """Yields the rate of delivery opportunities in intervals of equal length, at each change."""
    counts = Counter(int(word) // BIN_MS for word in opportunities.split())
    end = int(duration_s * 1000) // BIN_MS + 1
    last, number = None, 0
    while number < end:
        following = next(at for at in range(number, end + 1) if counts[at] or at == end)
        gap = following - number
        is_outage = gap > MAX_GAP or following == end
        rate = 0.0 if is_outage else counts[following] * PACKET_BITS * 1000 / BIN_MS / (gap + 1)
        if rate != last:
            yield Row(number * BIN_MS / 1000, rate)
        last = rate
        number = following if is_outage else following + 1
