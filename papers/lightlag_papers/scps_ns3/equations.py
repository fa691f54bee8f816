"""Closed-form expressions for the paper's path."""

from __future__ import annotations

import math

ACK_BYTES = 42
"""Size of a bare ACK with its PPP header, in bytes."""


def ack_clock_bps(return_bps: float, mss: int) -> float:
    """Returns the rate of a sender whose ACKs fill the return link, with two segments per ACK and no losses.

    Examples
    --------
    >>> [round(ack_clock_bps(rate, 472) / 1e3) for rate in (15e3, 5e3, 3e3, 2e3, 1.5e3)]
    [337, 112, 67, 45, 34]
    """
    return 2 * 8 * mss * return_bps / (8 * ACK_BYTES)


def ack_share(return_bps: float, interval_s: float) -> float:
    """Returns the fraction of the return link that ACKs take, with one ACK per interval.

    Examples
    --------
    >>> [f"{ack_share(rate, 0.1):.0%}" for rate in (15e3, 5e3, 3e3)]
    ['22%', '67%', '112%']
    """
    return 8 * ACK_BYTES / interval_s / return_bps


def padhye_bps(p: float, rtt_s: float, mss: int, *, delayed: int = 2, timeout_s: float = 1.0) -> float:
    """Returns TCP's rate at loss probability p, with timeouts (Padhye et al. 1998, equation 30, no window limit).

    Examples
    --------
    >>> [round(padhye_bps(0.0403, 0.1, 472, delayed=b) / 1e3) for b in (1, 2)]
    [118, 83]
    """
    recovery = rtt_s * math.sqrt(2 * delayed * p / 3)
    waiting = timeout_s * min(1.0, 3 * math.sqrt(3 * delayed * p / 8)) * p * (1 + 32 * p * p)
    return 8 * mss / (recovery + waiting)


def packet_error_rate(ber: float, size: int) -> float:
    """Returns the probability that a packet of `size` bytes is damaged.

    Examples
    --------
    >>> [f"{packet_error_rate(1e-5, size):.2%}" for size in (514, 42)]
    ['4.03%', '0.34%']
    """
    return -math.expm1(8 * size * math.log1p(-ber))


def rated_bps(rate_bps: float, mss: int, p: float) -> float:
    """Returns the payload rate that a token bucket in bytes of IP allows, less the losses.

    Examples
    --------
    >>> round(rated_bps(1.425e6, 472, 0.0403) / 1e3)
    1261
    """
    return rate_bps * mss / (mss + 40) * (1 - p)


def ramp_bps(file_bytes: int, full_bps: float, rtt_s: float, interval_s: float, mss: int) -> float:
    """Returns the rate of a transfer whose window grows by a segment per ACK, one per interval, up to a full link.

    A round trip includes the interval. While the window grows linearly, half of the capacity is lost. The
    handshake and the delay of the last segment take one and a half round trips.
    """
    grows_s = interval_s * full_bps * (rtt_s + interval_s) / (8 * mss)
    return 8 * file_bytes / (1.5 * rtt_s + grows_s / 2 + 8 * file_bytes / full_bps)
