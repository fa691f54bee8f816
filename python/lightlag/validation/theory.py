"""Closed forms and renewal models; windows in segments, times in seconds."""

from __future__ import annotations

import math
import random


def mathis(p: float) -> float:
    """Mean window of Reno with an ACK for every segment (Mathis et al. 1997): sqrt(3 / 2p).

    Examples
    --------
    >>> round(mathis(1e-3), 1)
    38.7
    """
    return math.sqrt(1.5 / p)


def cubic(p: float, rtt_s: float, *, kept: float = 0.7, c: float = 0.4) -> float:
    """Mean window of CUBIC outside its Reno-friendly region, a loss every 1/p segments (RFC 9438 §5.1).

    Examples
    --------
    >>> round(cubic(1e-4, 0.1))
    187
    """
    return math.pow(c * (3 + kept) / (4 * (1 - kept)), 0.25) * math.pow(rtt_s / p, 0.75)


def reno_random(p: float, *, losses: int = 100_000) -> float:
    """Mean window of Reno with random losses: growth between exponential distances of mean 1/p segments.

    The window begins at half of the last one and grows by one a round trip.
    """
    draw = random.Random(1)
    window, area, rounds = mathis(p), 0.0, 0.0
    for _ in range(losses):
        distance = draw.expovariate(p)
        begin = window / 2
        grown = math.sqrt(begin * begin + 2 * distance) - begin
        window = begin + grown
        area += distance
        rounds += grown
    return area / rounds


def cubic_random(p: float, rtt_s: float, *, kept: float = 0.7, c: float = 0.4, losses: int = 20_000) -> float:
    """Mean window of CUBIC's growth function with random losses, without Reno-friendly region and fast convergence.

    As :func:`cubic`, but with exponential distances of mean 1/p segments instead of equal ones. The mean is larger,
    because growth accelerates: a long distance gains more than a short one loses.
    """
    draw = random.Random(1)
    w_max, area, time = cubic(p, rtt_s, kept=kept, c=c), 0.0, 0.0
    for _ in range(losses):
        k = math.cbrt(w_max * (1 - kept) / c)
        goal = draw.expovariate(p) * rtt_s
        t = _time_to_send(goal, w_max, k, c)
        area += goal
        time += t
        w_max += c * (t - k) ** 3
    return area / time


def _time_to_send(goal: float, w_max: float, k: float, c: float) -> float:
    """The time at which the integral of c (t - k)³ + w_max reaches a goal, by bisection, as it only grows."""
    low, high = 0.0, goal / w_max + 4 * k + 10
    for _ in range(60):
        middle = (low + high) / 2
        area = w_max * middle + c / 4 * ((middle - k) ** 4 - k**4)
        low, high = (middle, high) if area < goal else (low, middle)
    return low


def timeouts(rtt_s: float, samples: int, *, least_s: float = 1.0) -> float:
    """The retransmission timeout after equal round-trip samples (RFC 6298 §2).

    Examples
    --------
    >>> [round(timeouts(0.6, n), 3) for n in (1, 2, 3, 4, 5)]
    [1.8, 1.5, 1.275, 1.106, 1.0]
    """
    variance = rtt_s / 2 * 0.75 ** (samples - 1)
    return max(rtt_s + 4 * variance, least_s)
