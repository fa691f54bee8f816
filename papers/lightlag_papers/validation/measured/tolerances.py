"""The tolerances of the scorecard. They follow from the spread of the measurements and were fixed before the first run.

No result changes a tolerance.
"""

from __future__ import annotations

CELL = 0.10
"""Maximum deviation of a cell's median goodput from the kernel's median.

(maximum - minimum) / median of the nine repetitions is 0.33 in the median of CUBIC's cells with loss, so the standard
error of a median of nine is about 1.25 · 0.33 / 2.97 / 3 = 4.6 % (2.97 is the expected range of nine normal values in
standard deviations). The difference of two such medians has a standard error of 6.5 %; 10 % are 1.5 of them.
"""

MOST_CELLS = 0.90
"""Minimum fraction of a congestion control's cells that are within `CELL`: 1.5 standard errors leave 87 %
of CUBIC's cells inside, and BBR's spread is 1 %."""

EXITS = 1.96
"""Standard errors between the measured fraction of runs that end slow start for a reason, and ours, that still agree.

Both are counts of 40 or 50 runs, so the standard error of the difference is sqrt(2 p (1 - p) / n), with p from both
counts together; half a run is added to both counts, so that 0 and 40 of 40 do not have the error 0.
"""

MEDIAN_EXIT = 0.20
"""Maximum deviation of the median window at the exit from slow start, unless the quartiles overlap.

The quartiles of the measured windows are 2 to 78 % away from their medians, in the median 21 %.
"""

STARLINK = 0.25
"""Maximum deviation of a mean throughput, or of a ratio of two, on Starlink.

Means of runs of 30 s and of 5 min differ by this much from place to place and from day to day: the tenth and ninetieth
percentile of the runs of the Maine measurement are 89 and 177 Mbit/s around a median of 140, which is a standard
deviation of 25 %.
"""

SLOT = 0.05
"""Maximum difference of the relative throughput of a second of the 15-s slot, as a fraction of the mean.

Each second of the slot has 324 measured values with a standard deviation of 0.48 of the mean, so the standard error of
its mean is 0.027; 0.05 are two of them.
"""

TARGET = 0.0
"""A target time is met or it is not: our median must not exceed it."""

OWN = 0.25
"""Minimum tolerance for a user's own measurement: two halves of one measurement differ that much on changing paths.

The tolerance of a row is larger where the difference between the two measured halves is larger.
"""

PAGES = 0.15
"""Maximum deviation of a median time or goodput from the testbed of Kosek and others.

A single load with 1 % of loss lies within -11 to +16 % of the median in half of the 100 repetitions of a setting. The
model also lacks the frames of the testbed's satellite (10 ms forward, 26.5 ms return), which are up to a fifth of the
round trip over the low orbit.
"""
