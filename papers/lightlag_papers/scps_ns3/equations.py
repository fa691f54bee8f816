"""Closed forms for the paper's path."""

from __future__ import annotations

import math

ACK_BYTES = 42
"""A bare ACK with its PPP header."""


def ack_clock_bps(return_bps: float, mss: int) -> float:
    """The rate of a sender whose ACKs fill the return link, two segments for each and none dropped.

    Examples
    --------
    >>> [round(ack_clock_bps(rate, 472) / 1e3) for rate in (15e3, 5e3, 3e3, 2e3, 1.5e3)]
    [337, 112, 67, 45, 34]
    """
    return 2 * 8 * mss * return_bps / (8 * ACK_BYTES)


def ack_share(return_bps: float, interval_s: float) -> float:
    """The share of the return link that one ACK in each interval takes.

    Examples
    --------
    >>> [f"{ack_share(rate, 0.1):.0%}" for rate in (15e3, 5e3, 3e3)]
    ['22%', '67%', '112%']
    """
    return 8 * ACK_BYTES / interval_s / return_bps


def padhye_bps(p: float, rtt_s: float, mss: int, *, delayed: int = 2, timeout_s: float = 1.0) -> float:
    """TCP's rate with losses of probability p and timeouts (Padhye et al. 1998, equation 30, without a window limit).

    Examples
    --------
    >>> [round(padhye_bps(0.0403, 0.1, 472, delayed=b) / 1e3) for b in (1, 2)]
    [118, 83]
    """
    recovery = rtt_s * math.sqrt(2 * delayed * p / 3)
    waiting = timeout_s * min(1.0, 3 * math.sqrt(3 * delayed * p / 8)) * p * (1 + 32 * p * p)
    return 8 * mss / (recovery + waiting)


def packet_error_rate(ber: float, size: int) -> float:
    """The probability that a packet of so many bytes is damaged.

    Examples
    --------
    >>> [f"{packet_error_rate(1e-5, size):.2%}" for size in (514, 42)]
    ['4.03%', '0.34%']
    """
    return -math.expm1(8 * size * math.log1p(-ber))


def rated_bps(rate_bps: float, mss: int, p: float) -> float:
    """Payload that a token bucket in bytes of IP lets through, less what is lost.

    Examples
    --------
    >>> round(rated_bps(1.425e6, 472, 0.0403) / 1e3)
    1261
    """
    return rate_bps * mss / (mss + 40) * (1 - p)


def ramp_bps(file_bytes: int, full_bps: float, rtt_s: float, interval_s: float, mss: int) -> float:
    """The rate of a file whose window grows by a segment an ACK, one ACK an interval, up to a full link.

    A round trip takes the interval, too; while the window grows evenly half of the time is lost. The handshake and the
    way of the last segment are one round trip and a half.
    """
    grows_s = interval_s * full_bps * (rtt_s + interval_s) / (8 * mss)
    return 8 * file_bytes / (1.5 * rtt_s + grows_s / 2 + 8 * file_bytes / full_bps)
