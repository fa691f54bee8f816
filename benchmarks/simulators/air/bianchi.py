"""Saturated stations of 802.11a at 24 Mbit/s that all detect one another: Bianchi's closed form, and a simulation of
its Markov chain, station by station.
"""

from __future__ import annotations

import random

SLOT, DIFS, SIFS, DATA, ACK, TIMEOUT, CCA = 9.0, 34.0, 16.0, 536.0, 28.0, 45.0, 4.0
"""Durations in microseconds, for frames with 1500 B of payload and 36 B of headers."""
LEAST_WINDOW, STAGES = 16, 6
BITS = 1500 * 8
CYCLES = 40_000


def goodput(stations: int) -> float:
    """Returns the goodput in Mbit/s with unlimited retries, if all stations continue at the same time after a collision
    (Bianchi 2000).
    """
    low, high = 0.0, 0.999
    for _ in range(200):
        p = (low + high) / 2
        tau = _attempts(p)
        low, high = (p, high) if 1 - (1 - tau) ** (stations - 1) > p else (low, p)
    tau = _attempts((low + high) / 2)
    busy = 1 - (1 - tau) ** stations
    alone = stations * tau * (1 - tau) ** (stations - 1)
    exchange = DATA + SIFS + ACK + DIFS
    return alone * BITS / ((1 - busy) * SLOT + busy * exchange)


def _attempts(p: float) -> float:
    if p == 0.5:
        p += 1e-9
    window = LEAST_WINDOW
    return 2 * (1 - 2 * p) / ((1 - 2 * p) * (window + 1) + p * window * (1 - (2 * p) ** STAGES))


def played(stations: int, *, together: bool, seed: int = 1) -> float:
    """Returns the goodput in Mbit/s of the same stations, simulated with a separate backoff for each.

    With `together`, all continue at the same time after a collision. Otherwise the colliding stations continue DIFS after
    the end of their wait for an ACK, and the others, which detected no preamble, DIFS after the collision.
    """
    draw = random.Random(seed)
    windows = [LEAST_WINDOW] * stations
    slots = [draw.randrange(LEAST_WINDOW) for _ in range(stations)]
    resumes = [DIFS] * stations
    now, delivered = 0.0, 0
    for _ in range(CYCLES):
        starts = [resume + SLOT * left for resume, left in zip(resumes, slots, strict=True)]
        first = min(starts)
        senders = [at for at, start in enumerate(starts) if start < first + CCA]
        for at in range(stations):
            slots[at] -= min(slots[at], max(0, int((first - resumes[at]) / SLOT)))
        end = first + DATA
        if len(senders) == 1:
            end += SIFS + ACK
            delivered += 1
            windows[senders[0]] = LEAST_WINDOW
            resumes = [end + DIFS] * stations
        elif together:
            resumes = [end + SIFS + ACK + DIFS] * stations
        else:
            resumes = [end + DIFS + (TIMEOUT if at in senders else 0.0) for at in range(stations)]
        for at in senders:
            if len(senders) > 1:
                windows[at] = min(2 * windows[at], LEAST_WINDOW << STAGES)
            slots[at] = draw.randrange(windows[at])
        now = end
    return delivered * BITS / now
