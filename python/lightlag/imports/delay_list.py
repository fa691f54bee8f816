"""Lists of delays, as LeoReplayer reads them: a number of milliseconds on each line, at a fixed interval.

The number on line *i* is the one-way delay of the path in the *i*-th interval of 10 ms (SpaceNetLab/LeoCC,
``traces/README.md``); the replayer applies it to each direction.
"""

from __future__ import annotations

import re
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Measured, Options, Row
from lightlag.imports.sample import Sample, all_match

__all__ = ["ABOUT", "is_list", "read", "recognises"]

ABOUT = "one-way delays in milliseconds, one for each 10 ms, of LeoReplayer"
INTERVAL_S = 0.01
"""Default time between two delays, in seconds."""
LONGEST_DELAY_S = 3600.0
"""Maximum delay in seconds. Larger numbers are microseconds or nanoseconds, or times of another format."""

is_list = all_match(r"^[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$")
_FRACTION = re.compile(r"[.eE]")


def recognises(sample: Sample) -> bool:
    """Returns True for numbers with fractions: whole numbers may be a trace of mahimahi."""
    return is_list(sample) and any(_FRACTION.search(line) for line in sample.lines)


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time. Equal delays in a row are one row."""
    interval_s = options.interval_s or INTERVAL_S
    lines = texts.lines(path)
    found = Found(f"{len(lines)} one-way delays, one for each {interval_s * 1000:g} ms.")
    found.duration_s = len(lines) * interval_s
    if found.duration_s > LONGEST_S:
        texts.fail(path, f"{len(lines)} delays of {interval_s:g} s last longer than 480 h; cut the file")
    for number, (at, line) in enumerate(lines):
        if at != number + 1:
            texts.fail(
                path,
                "the line is empty: each line is an interval, so that all later delays would be early; fill it in",
                number + 1,
            )
        delay = texts.number(path, line.strip(), "the delay", line=at) / 1000
        if delay > LONGEST_DELAY_S:
            texts.fail(path, f"a delay of {delay:g} s is above 1 h; write milliseconds", at)
        if not found.rows or delay != found.rows[-1].delay_s:
            found.rows.append(Row(number * interval_s, delay_s=delay))
    found.delay = Measured(found.rows[0].delay_s or 0.0, "the first of the list; the trace replaces it")
    return found
