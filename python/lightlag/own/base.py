"""What a class of one's own inherits, and how it names its parameters and its state."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, TypeVar

from lightlag import _engine

LOSS, TIMEOUT, REPEATED_TIMEOUT, MARK = range(4)
"""Causes of a congestion event. At a repeated timeout for the same data ssthresh stays (RFC 5681 §3.1)."""
PASS, DROP = range(2)
"""Decisions about a packet in a queue, with ``MARK``."""
CONGESTION, CORRUPTION = range(2)
"""Causes of a loss that a loss response names."""
WAIT, AGAIN = -1, -2
"""Answers of a router: the node keeps the packet until it is released; it asks again where the packet goes."""
GROUND, NOWHERE = -1, -2
"""Next hops of satellites that are no satellites: down to the station; there is no way."""

HOOKS = ("on_start", "on_ack", "on_congestion", "on_undo", "on_idle", "on_recovered")
"""The methods of a congestion control that the engine calls."""
REQUIRED = ("on_ack", "on_congestion")
QUEUE_HOOKS = ("on_enqueue", "on_dequeue")
"""Those of a queue discipline, which has one of them at least."""
RESPONSE_HOOKS = ("on_ack", "on_loss")
"""Those of a loss response, which has ``on_loss`` at least."""
TRAFFIC_HOOKS = ("next_message",)
"""That of traffic."""
ROUTER_HOOKS = ("on_start", "next_hop", "on_message", "on_timer", "on_broken")
"""Those of a router, which has ``next_hop`` at least."""
COMPILED = "_lightlag_is_compiled"

T = TypeVar("T")


class Declared:
    """A class whose parameters and state are fields, as those of a dataclass."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        said = {name: value for name, value in vars(cls).items() if isinstance(value, dataclasses.Field)}
        if inspect.get_annotations(cls):
            dataclasses.dataclass(eq=False)(cls)
        for name, value in said.items():
            # For a class that says @dataclass itself.
            setattr(cls, name, value)


class CongestionControl(Declared, _engine.CongestionControl):
    """A congestion control of one's own.

    A subclass has ``on_ack(self, ack)`` and ``on_congestion(self, event)``, which change ``self.cwnd`` and
    ``self.ssthresh``, in segments and their fractions. It may have ``on_start(self, start)``,
    ``on_recovered(self, moment)``, ``on_undo(self, moment)`` and ``on_idle(self, idle)``; without the last two, window
    and threshold return to their values before the event, and an idle sender restarts as RFC 5681 §4.1 says. One object
    serves one connection.

    Attributes
    ----------
    cwnd, ssthresh
        Segments, with fractions. The window starts as the initial window of the connection, the threshold is infinite.
    pacing_rate
        Bytes a second; 0 for none. It counts with ``paces = True``.
    segment_size
        Payload of a full segment in bytes.
    prior_cwnd, prior_ssthresh
        Before the last congestion event.
    epoch_ns, epoch_w_max, epoch_k
        For figures alone: the start of an epoch of a cubic function in nanoseconds, -1 outside of one; the window at
        its plateau in segments; the seconds from the start to the plateau.
    """

    name = ""
    """Its name in results; by default that of the class in lower case."""
    uses_rate = False
    """Whether ACKs carry delivery rates."""
    paces = False
    """Whether ``pacing_rate`` applies."""
    own_recovery = False
    """Whether its window applies in fast recovery, too, in place of proportional rate reduction (RFC 6937)."""


class LossResponse(Declared, _engine.LossResponse):
    """A loss response of one's own, in front of any congestion control.

    A subclass has ``on_loss(self, loss)``, which returns ``lightlag.CONGESTION``, so that the congestion control
    reacts, or ``lightlag.CORRUPTION``: the segment leaves again, and neither window nor back-off pays for it. It is
    asked once an episode of lost segments, and at each timeout, unless a congestion mark came within a round trip. It
    may have ``on_ack(self, ack)``. One object serves one sender. A scenario names it as ``loss_assumption`` of ``tcp``.

    ``loss`` has ``now_ns``; ``cause``, ``lightlag.LOSS`` or ``lightlag.TIMEOUT``; ``sent_ns``, when the lowest lost
    segment left, -1 if that is not known; ``inflight`` and ``cwnd`` in bytes; ``rtt_ns``, ``srtt_ns`` and
    ``min_rtt_ns``, 0 before the first sample.
    """

    name = ""
    """Its name in scenarios; by default that of the class in lower case."""


class QueueDiscipline(Declared, _engine.QueueDiscipline):
    """A queue discipline of one's own.

    A subclass has ``on_enqueue(self, packet)``, ``on_dequeue(self, packet)`` or both. They are asked about a packet
    that comes, and about the one at the head that is about to leave, and return ``lightlag.PASS``, ``lightlag.DROP`` or
    ``lightlag.MARK``. A packet that cannot be marked is dropped instead. The queue is first in, first out, up to the
    limit of the scenario. One object serves one queue.

    Attributes
    ----------
    packets, bytes
        Packets that wait, without the one that comes or is about to leave, and their bytes.
    limit_packets, limit_bytes
        The limit of the queue. The one in which the scenario does not say it is infinite.
    rate
        The rate of the link in bytes a second.
    """

    name = ""
    """Its name in scenarios; by default that of the class in lower case."""


class Traffic(Declared, _engine.Traffic):
    """Traffic of one's own.

    A subclass has ``next_message(self, sent)``, which is called when the flow starts and after each message, and says
    in ``self.wait_ns`` and ``self.size`` when the next one comes and how many bytes it has. A size of 0 ends the flow.
    Both keep their values from call to call. One object serves one flow, of TCP or UDP.

    Attributes
    ----------
    wait_ns
        Nanoseconds from the last message, or the start of the flow, to the next one; between messages, 0 counts as 1.
    size
        Bytes of the next message; 0: there is none any more.
    """

    name = ""
    """Its name in scenarios; by default that of the class in lower case."""


class Router(Declared, _engine.Router):
    """A router of one's own, for the nodes of a radio medium.

    A subclass has ``next_hop(self, packet)``, which returns the number of the neighbour to which the packet goes, None
    if there is no way, or ``lightlag.WAIT`` to keep the packet until ``self.release(destination)`` or
    ``self.discard(destination)``. It may have ``on_start(self, moment)``, ``on_message(self, message)``,
    ``on_timer(self, moment)`` and ``on_broken(self, broken)``, which returns what becomes of the packet: None drops it,
    ``lightlag.WAIT`` keeps it, ``lightlag.AGAIN`` asks for another next hop. One object serves one node. Nodes are
    numbers, in the order of the scenario.

    ``self.send(data, to=None)`` sends bytes to all neighbours, or to one of them, as a datagram on the air.
    ``self.position(node)`` and ``self.neighbours(node)`` tell where a node is, in metres, and to which nodes its frames
    get through: true, without messages, for protocols that assume a location service, and for bounds.

    Attributes
    ----------
    node
        The number of the node.
    wake_ns
        The time at which ``on_timer`` is called, in nanoseconds since the start of the run; -1 for none.
    """

    name = ""
    """Its name in scenarios; by default that of the class in lower case."""


class SkyRouter(Declared, _engine.SkyRouter):
    """A router of one's own, for a constellation.

    A subclass has ``next_hops(self, sky)``, which is called at each look (``interval`` of the constellation) for each
    station at which packets leave the sky. It returns, for each satellite, the number of the satellite to which it
    sends, ``lightlag.GROUND`` to send down to the station, or ``lightlag.NOWHERE``. Ways must follow links that are up
    and must not lead in a circle. Stations send to the satellite over which the whole way is shortest. One object
    serves one run.

    ``sky`` has ``now_ns`` and ``station``, the number of the station, and arrays of numpy for n satellites and m links:
    ``positions`` (n, 3) in metres, in a frame that turns with the Earth; ``links`` (m, 2) with the numbers of
    satellites; ``lengths`` (m) in metres, infinite while a link is down; ``loads`` (m), the part of the time since the
    last look in which a link was busy; ``entries``, the satellites that may send to the station, and
    ``entry_lengths``, their distances from it in metres.
    """

    name = ""
    """Its name in scenarios; by default that of the class in lower case."""


def parameter(
    default: T,
    *,
    least: float = float("-inf"),
    most: float = float("inf"),
    unit: str = "",
    meaning: str = "",
) -> T:
    """A parameter of a class of one's own, which a scenario can set and a study can vary.

    Examples
    --------
    >>> import lightlag as ll
    >>> class Mine(ll.CongestionControl):
    ...     beta: float = ll.parameter(0.7, least=0.1, most=0.99)
    """
    about = {"least": least, "most": most, "unit": unit, "meaning": meaning}
    return dataclasses.field(default=default, metadata=about)


def state(default: T) -> T:
    """A field of a class of one's own that belongs to one object, and no parameter: it starts with this value."""
    # A factory, so that each object gets it as its own and the class keeps the field.
    return dataclasses.field(init=False, default_factory=lambda: default)


def uniform(algorithm: Any) -> float:
    """A random number from 0 up to, but not including, 1, from the run's stream for this connection or queue.

    Both kinds of classes draw the same numbers (SplitMix64, as `uniform` of ``lightlag-plugin``).
    """
    mask = (1 << 64) - 1
    mixed = algorithm.random = (algorithm.random + 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return float(((mixed ^ (mixed >> 31)) >> 11) / (1 << 53))
