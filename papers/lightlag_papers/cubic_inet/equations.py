"""Equations 1 to 4 of the paper, with windows in segments and times in seconds.

`beta` is the fraction of the window that a loss removes (0.2 here; RFC 9438 writes 0.7 for the remaining fraction).
"""

from __future__ import annotations

import math

C = 0.4
BETA = 0.2


def k(w_max: float, *, beta: float = BETA, c: float = C) -> float:
    """Returns the time from the start of an epoch to its plateau (equation 1).

    Examples
    --------
    >>> round(k(100), 4), round(k(200), 4)
    (3.684, 4.6416)
    """
    return math.cbrt(w_max * beta / c)


def window(t: float, w_max: float, *, beta: float = BETA, c: float = C) -> float:
    """Returns the window at the time `t` after the start of the epoch (equation 2).

    Examples
    --------
    >>> [round(window(t, 100), 3) for t in (0, 1, 2, 3, 5, 6)]
    [80.0, 92.266, 98.09, 99.872, 100.912, 104.969]
    """
    return c * (t - k(w_max, beta=beta, c=c)) ** 3 + w_max


def k_published(w: float, *, converging: bool, beta: float = BETA, c: float = C) -> float:
    """Returns K as the published code computes it from the window `w` at the loss.

    The epoch starts with the first ACK in congestion avoidance, when the window is one segment above ssthresh: C K³ =
    βw - 1. With fast convergence the plateau is at (2 - β)w/2: C K³ = βw/2 - 1.

    Examples
    --------
    >>> round(k_published(214, converging=False), 2)
    4.71
    """
    below = (beta / 2 if converging else beta) * w - 1
    return math.cbrt(max(below, 0.0) / c)


def response(p: float, rtt_s: float, *, beta: float = BETA, c: float = C) -> float:
    """Returns CUBIC's mean window at loss rate `p`, with one loss every 1/p segments (RFC 9438 §5.1, equation 6).

    Examples
    --------
    >>> round(response(5e-4, 0.082), 1)
    53.8
    """
    kept = 1 - beta
    return math.pow(c * (3 + kept) / (4 * (1 - kept)), 0.25) * math.pow(rtt_s / p, 0.75)


def reno(p: float, *, segments_per_ack: int = 1) -> float:
    """Returns Reno's mean window at loss rate `p` with an ACK every b segments: sqrt(3 / 2bp) (Mathis et al. 1997).

    Examples
    --------
    >>> round(reno(1e-3), 1), round(reno(1e-3, segments_per_ack=2), 1)
    (38.7, 27.4)
    """
    return math.sqrt(1.5 / (segments_per_ack * p))


PLATEAU_S = 2 * math.cbrt(1 / C)
"""Duration of the plateau, while C|t - K|³ is below one segment: the published code's target does not change."""
