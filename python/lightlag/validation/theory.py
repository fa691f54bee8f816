"""Closed forms and renewal models; windows in segments, times in seconds."""

from __future__ import annotations

import math
import random

from lightlag._renamed import former_keywords


def mathis(p: float) -> float:
    """Returns the mean window of Reno with one ACK per segment (Mathis et al. 1997): sqrt(3 / 2p).

    Examples
    --------
    >>> round(mathis(1e-3), 1)
    38.7
    """
    return math.sqrt(1.5 / p)


@former_keywords("theory.cubic")
def cubic(p: float, rtt_s: float, *, beta: float = 0.7, c: float = 0.4) -> float:
    """Returns the mean window of CUBIC outside its Reno-friendly region, with a loss every 1/p segments (RFC 9438
    §5.1).

    Examples
    --------
    >>> round(cubic(1e-4, 0.1))
    187
    """
    return math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * math.pow(rtt_s / p, 0.75)


def reno_random(p: float, *, losses: int = 100_000) -> float:
    """Returns the mean window of Reno with random losses.

    The distances between losses are exponentially distributed with a mean of 1/p segments.

    After a loss the window starts at half of its last value, and grows by one per round trip.
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


@former_keywords("theory.cubic_random")
def cubic_random(p: float, rtt_s: float, *, beta: float = 0.7, c: float = 0.4, losses: int = 20_000) -> float:
    """Returns the mean window of CUBIC's growth function with random losses.

    There is no Reno-friendly region and no fast convergence.

    As :func:`cubic`, but the distances between losses are exponentially distributed with a mean of 1/p segments, not
    equal. The mean is larger, because growth accelerates: a long distance gains more than a short one loses.
    """
    draw = random.Random(1)
    w_max, area, time = cubic(p, rtt_s, beta=beta, c=c), 0.0, 0.0
    for _ in range(losses):
        k = math.cbrt(w_max * (1 - beta) / c)
        goal = draw.expovariate(p) * rtt_s
        t = _time_to_send(goal, w_max, k, c)
        area += goal
        time += t
        w_max += c * (t - k) ** 3
    return area / time


def _time_to_send(goal: float, w_max: float, k: float, c: float) -> float:
    """Returns the time when the integral of c (t - k)³ + w_max reaches a goal.

    The integral only grows, so it bisects.
    """
    low, high = 0.0, goal / w_max + 4 * k + 10
    for _ in range(60):
        middle = (low + high) / 2
        area = w_max * middle + c / 4 * ((middle - k) ** 4 - k**4)
        low, high = (middle, high) if area < goal else (low, middle)
    return low


def timeouts(rtt_s: float, samples: int, *, least_s: float = 1.0) -> float:
    """Returns the retransmission timeout after a number of equal round-trip samples (RFC 6298 §2).

    Examples
    --------
    >>> [round(timeouts(0.6, n), 3) for n in (1, 2, 3, 4, 5)]
    [1.8, 1.5, 1.275, 1.106, 1.0]
    """
    variance = rtt_s / 2 * 0.75 ** (samples - 1)
    return max(rtt_s + 4 * variance, least_s)
