"""The causes that are examined: for each, the change of the scenario that removes it, and the fix on a real path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lightlag.diagnosis.case import Case

__all__ = ["CAUSES", "Cause", "Kind", "shorten_queue"]

UNLIMITED = "1 GB"
"""A buffer that limits nothing."""

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
"""Factors of the prefixes of bit/s that scenarios are printed with."""

LARGEST_WINDOW = 1000
"""Maximum initial window in segments."""


class Kind(Enum):
    """Part of the scenario that has the cause."""

    SETTING = auto()
    """An option of an endpoint, or the application."""
    PATH = auto()
    """A link, or a node."""
    START = auto()
    """The start of every transfer."""
    SHARED = auto()
    """Other flows on the path."""
    RATE = auto()
    """The rate of the bottleneck, which some part of the path always limits."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause of a slow transfer.

    Attributes
    ----------
    name
        Name in tables.
    statement
        The cause in a sentence, without a full stop.
    fix
        The fix in a sentence, without a full stop.
    kind
        Part of the scenario that has the cause.
    remove
        Changes the scenario so that the cause is absent; returns False if the scenario cannot have it.
    keys
        Options of TCP or QUIC that make the cause a setting; without one of them, it is a default.
    """

    name: str
    statement: str
    fix: str
    kind: Kind
    remove: Callable[[Case], bool]
    keys: tuple[str, ...] = ()

    def is_set(self, case: Case) -> bool:
        """Returns true if a setting of the scenario causes the effect, not a default or the path."""
        return self.kind == Kind.SETTING and (not self.keys or any(case.option(key) is not None for key in self.keys))


def _receive_window(case: Case) -> bool:
    if "reader" in (case.flow or {}):
        # A slow reader leaves little of any window.
        return False
    if case.transport == "quic":
        for key in ("stream_credit", "connection_credit"):
            case.set_option(key, UNLIMITED)
        case.set_option("auto_credit", False)
        return True
    case.set_option("receive_buffer", UNLIMITED)
    case.set_option("window_scaling", True)
    return True


def _send_buffer(case: Case) -> bool:
    if case.option("send_buffer") is None:
        return False
    case.set_option("send_buffer", UNLIMITED)
    return True


def _application(case: Case) -> bool:
    traffic = (case.flow or {}).get("traffic")
    if case.flow is None or traffic is None or traffic.get("kind") == "bulk" or case.replies():
        return False
    del case.flow["traffic"]
    return True


def _reader(case: Case) -> bool:
    return case.flow is not None and case.flow.pop("reader", None) is not None


def _small_window(case: Case) -> bool:
    window = case.option("initial_window")
    if not (window == "rfc3390" or (isinstance(window, int) and window < 10)):
        return False
    return case.drop_option("initial_window")


def _slow_start(case: Case) -> bool:
    if case.row.get("finish_s") is None:
        return False
    case.set_option("initial_window", LARGEST_WINDOW)
    case.set_option("pacing", True)
    return True


def _no_sack(case: Case) -> bool:
    if case.transport != "tcp":
        return False
    if case.option("recovery") in ("reno", "newreno"):
        case.drop_option("recovery")
    case.set_option("sack", True)
    return True


def _no_timestamps(case: Case) -> bool:
    if case.transport != "tcp" or case.option("timestamps") is not False:
        return False
    case.set_option("timestamps", True)
    return True


def _delayed_acks(case: Case) -> bool:
    if case.transport != "tcp":
        return case.drop_option("ack") or case.drop_option("ack_frequency")
    case.drop_option("ack_interval")
    case.set_option("delayed_ack", False)
    return True


def _idle_restart(case: Case) -> bool:
    if case.transport != "tcp" or (case.flow or {}).get("traffic") is None:
        return False
    case.set_option("idle_restart", "off")
    return True


def _hystart(case: Case) -> bool:
    if case.row.get("congestion") != "cubic":
        return False
    case.set_option("congestion", {"algorithm": "cubic", "slow_start": "standard"})
    return True


def _nagle(case: Case) -> bool:
    return case.option("nagle") is True and case.drop_option("nagle")


def _window_limit(case: Case) -> bool:
    removed = [case.drop_option(key) for key in ("max_cwnd", "initial_ssthresh", "burst_limit", "rate_control")]
    return any(removed)


def _small_segments(case: Case) -> bool:
    removed = [case.drop_option("mss"), case.drop_option("datagram"), *(link.drop("mtu") for link in case.path())]
    return any(removed)


def _data_losses(case: Case) -> bool:
    return _without_losses(case, acks=False)


def _ack_losses(case: Case) -> bool:
    return _without_losses(case, acks=True)


def _without_losses(case: Case, *, acks: bool) -> bool:
    changed = False
    for link in case.path():
        direction = link.acks if acks else link.data
        if link.side("loss", direction) not in (None, 0, 0.0):
            link.set_side("loss", direction, 0.0)
            changed = True
    return changed


def _thin_return(case: Case) -> bool:
    changed = False
    for link in case.path():
        data, acks = link.side("rate", link.data), link.side("rate", link.acks)
        if isinstance(data, str) and isinstance(acks, str) and _bps(acks) < _bps(data):
            link.values["rate"] = data
            changed = True
    return changed


def _outages(case: Case) -> bool:
    changed = False
    for link in case.path():
        for direction in ("forward", "backward"):
            found = link.side("changes", direction)
            if isinstance(found, list) and any("down" in one for one in found):
                kept = [{key: value for key, value in one.items() if key != "down"} for one in found]
                link.set_side("changes", direction, [one for one in kept if len(one) > 1])
                changed = True
        if changed and all(not link.side("changes", one) for one in ("forward", "backward")):
            link.drop("changes")
    return changed


def _without(*keys: str) -> Callable[[Case], bool]:
    """Returns the removal of keys from all links of the path."""

    def remove(case: Case) -> bool:
        removed = [link.drop(key) for link in case.path() for key in keys]
        return any(removed)

    return remove


def _short_queue(case: Case) -> bool:
    link = case.bottleneck()
    if link is None or not _is_drop_tail(link.side("queue", link.data)):
        return False
    link.set_side("queue", link.data, "4 bdp")
    return True


def _is_drop_tail(queue: Any) -> bool:
    return isinstance(queue, str) or (isinstance(queue, dict) and queue.get("discipline") == "drop_tail")


def shorten_queue(case: Case) -> bool:
    """Replaces the queue of the bottleneck by FQ-CoDel."""
    link = case.bottleneck()
    if link is None:
        return False
    link.set_side("queue", link.data, "fq_codel")
    return True


def _competition(case: Case) -> bool:
    flows = case.scenario.get("flows", [])
    if case.flow is None or len(flows) < 2:
        return False
    case.scenario["flows"] = [case.flow | {"name": case.row["name"]}]
    return True


def _proxies(case: Case) -> bool:
    return case.scenario.pop("proxies", None) is not None


def _capacity(case: Case) -> bool:
    link = case.bottleneck()
    if link is None or not isinstance(rate := link.side("rate", link.data), str):
        return False
    link.set_side("rate", link.data, f"{2 * _bps(rate):.0f} bit/s")
    return True


def _bps(rate: str) -> float:
    """Returns a rate as scenarios print it, such as ``20 Mbit/s``, in bit/s."""
    value, unit = rate.split()
    return float(value) * PREFIXES[unit.removesuffix("bit/s")]


CAUSES = (
    Cause(
        "receive window",
        "the receive window is smaller than the path needs",
        "allow a receive buffer of twice the bandwidth-delay product: net.ipv4.tcp_rmem, SO_RCVBUF, or QUIC's credit",
        Kind.SETTING,
        _receive_window,
        ("receive_buffer", "window_scaling", "stream_credit", "connection_credit"),
    ),
    Cause(
        "send buffer",
        "the send buffer is smaller than the path needs",
        "allow a send buffer of twice the bandwidth-delay product: net.ipv4.tcp_wmem, SO_SNDBUF",
        Kind.SETTING,
        _send_buffer,
    ),
    Cause(
        "application",
        "the application does not supply more data",
        "nothing in the network helps: let the application write earlier, or more",
        Kind.SETTING,
        _application,
    ),
    Cause("slow reader", "the receiving application reads slowly", "read faster", Kind.SETTING, _reader),
    Cause(
        "small initial window",
        "the initial window is smaller than ten segments",
        "an initial window of ten segments (RFC 6928): ip route change ... initcwnd 10",
        Kind.SETTING,
        _small_window,
    ),
    Cause(
        "no SACK",
        "without SACK, a sender repairs one loss per round trip",
        "enable SACK at both endpoints: net.ipv4.tcp_sack",
        Kind.SETTING,
        _no_sack,
        ("sack", "recovery"),
    ),
    Cause(
        "no timestamps",
        "without timestamps, a spurious retransmission is not detected",
        "enable timestamps at both endpoints: net.ipv4.tcp_timestamps",
        Kind.SETTING,
        _no_timestamps,
    ),
    Cause(
        "delayed ACKs",
        "ACKs are delayed, so that the window grows slowly",
        "acknowledge more often: quickack in the route, or a smaller delay",
        Kind.SETTING,
        _delayed_acks,
        ("delayed_ack", "ack_interval", "ack", "ack_frequency"),
    ),
    Cause(
        "idle restart",
        "the window falls back to its initial size after each pause",
        "keep the window over pauses: net.ipv4.tcp_slow_start_after_idle = 0",
        Kind.SETTING,
        _idle_restart,
        ("idle_restart",),
    ),
    Cause(
        "HyStart",
        "HyStart ends slow start too early",
        "slow start without HyStart, or with HyStart++ or SEARCH",
        Kind.SETTING,
        _hystart,
        ("congestion",),
    ),
    Cause("Nagle's algorithm", "Nagle's algorithm holds small segments back", "TCP_NODELAY", Kind.SETTING, _nagle),
    Cause(
        "window limit",
        "a limit of the congestion window, of bursts or of the rate slows the sender down",
        "remove the limit",
        Kind.SETTING,
        _window_limit,
    ),
    Cause(
        "small segments",
        "the segments are smaller than the path could carry",
        "a larger MTU and MSS",
        Kind.SETTING,
        _small_segments,
    ),
    Cause(
        "losses of data",
        "random losses reduce the congestion window",
        "a congestion control that tolerates losses (BBR, Hybla), FEC on the link, or a PEP",
        Kind.PATH,
        _data_losses,
    ),
    Cause(
        "losses of ACKs",
        "losses of ACKs slow the growth of the window, or cause timeouts",
        "a better return link, or more ACKs",
        Kind.PATH,
        _ack_losses,
    ),
    Cause(
        "thin return link",
        "the return link is too slow for the ACKs",
        "fewer ACKs: an ACK filter, ACK frequency, or a faster return link",
        Kind.PATH,
        _thin_return,
    ),
    Cause(
        "outages",
        "the link is down for some time",
        "a link without outages; after one, a sender waits for its retransmission timer",
        Kind.PATH,
        _outages,
    ),
    Cause(
        "handovers",
        "handovers and slots interrupt the path",
        "a sender that ignores them",
        Kind.PATH,
        _without("slots"),
    ),
    Cause(
        "radio channel",
        "the bad state of the channel adds losses and delay",
        "link-layer retransmission or FEC",
        Kind.PATH,
        _without("channel", "fade"),
    ),
    Cause(
        "policer",
        "a policer drops the packets above its rate",
        "send below the policed rate (pacing, BBR), or shape instead",
        Kind.PATH,
        _without("police"),
    ),
    Cause(
        "reordering",
        "reordering is mistaken for loss",
        "RACK with its reordering window, timestamps and D-SACK",
        Kind.PATH,
        _without("reorder", "jitter"),
    ),
    Cause(
        "bandwidth on demand",
        "the transmitter waits for capacity that it requests",
        "capacity that is assigned in advance",
        Kind.PATH,
        _without("on_demand", "ramp", "aggregate"),
    ),
    Cause(
        "short queue",
        "the queue of the bottleneck overflows before the path is full",
        "a queue of one bandwidth-delay product, or pacing",
        Kind.PATH,
        _short_queue,
    ),
    Cause(
        "proxies",
        "the proxies slow the transfer down",
        "larger buffers and windows in the proxies",
        Kind.PATH,
        _proxies,
    ),
    Cause(
        "other flows",
        "other flows share the path",
        "a queue per flow (FQ-CoDel), or a higher rate",
        Kind.SHARED,
        _competition,
    ),
    Cause(
        "slow start",
        "the window grows from its initial size, which takes several round trips",
        "a larger initial window, Careful Resume, a persistent connection, or a PEP",
        Kind.START,
        _slow_start,
    ),
    Cause("capacity", "the link is used fully", "a higher rate", Kind.RATE, _capacity),
)
"""All causes, in the order in which they are examined."""
