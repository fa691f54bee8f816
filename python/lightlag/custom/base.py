"""Base classes of custom algorithms, and the declarations of their parameters and state."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, NoReturn, TypeVar

from lightlag import _engine
from lightlag._renamed import renamed

LOSS, TIMEOUT, REPEATED_TIMEOUT, MARK = range(4)
"""Causes of a congestion event. At a repeated timeout for the same data, ssthresh is unchanged (RFC 5681 §3.1)."""
PASS, DROP = range(2)
"""Decisions about a packet in a queue, with ``MARK``."""
CONGESTION, CORRUPTION = range(2)
"""Causes of a loss, between which a loss response decides."""
HOLD, REROUTE = -1, -2
"""Decisions of a router: the node holds the packet until it is released, or requests another next hop for it."""
GROUND, UNREACHABLE = -1, -2
"""Next hops of a satellite other than satellites: down to the station, or no path."""

HOOKS = ("on_start", "on_ack", "on_congestion", "on_undo", "on_idle", "on_recovered")
"""The methods of a congestion control that the engine calls."""
REQUIRED = ("on_ack", "on_congestion")
QUEUE_HOOKS = ("on_enqueue", "on_dequeue")
"""Hooks of a queue discipline, which implements at least one of them."""
RESPONSE_HOOKS = ("on_ack", "on_loss")
"""Hooks of a loss response, which implements at least ``on_loss``."""
TRAFFIC_HOOKS = ("next_message",)
"""Hook of a traffic source."""
ROUTER_HOOKS = ("on_start", "next_hop", "on_message", "on_timer", "on_broken")
"""Hooks of a router, which implements at least ``next_hop``."""
COMPILED = "_lightlag_is_compiled"

T = TypeVar("T")


class Declared:
    """A class whose parameters and state are declared as fields, like a dataclass."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        said = {name: value for name, value in vars(cls).items() if isinstance(value, dataclasses.Field)}
        if inspect.get_annotations(cls):
            dataclasses.dataclass(eq=False)(cls)
        for name, value in said.items():
            # A subclass may apply @dataclass itself.
            setattr(cls, name, value)


class CongestionControl(Declared, _engine.CongestionControl):
    """Base class of custom congestion controls.

    A subclass has ``on_ack(self, ack)`` and ``on_congestion(self, event)``, which change ``self.cwnd`` and
    ``self.ssthresh``, in segments and their fractions. It may have ``on_start(self, start)``, ``on_recovered(self,
    moment)``, ``on_undo(self, moment)`` and ``on_idle(self, idle)``; without the last two, window and threshold return
    to their values before the event, and an idle sender restarts as in RFC 5681 §4.1. One object serves one connection.

    Attributes
    ----------
    cwnd, ssthresh
        Segments, with fractions. The window starts as the initial window of the connection, the threshold is infinite.
    pacing_rate
        Bytes per second; 0 for none. Used with ``paces = True``.
    segment_size
        Payload of a full segment in bytes.
    prior_cwnd, prior_ssthresh
        Values before the last congestion event.
    epoch_ns, epoch_w_max, epoch_k
        Used for plots only: start of an epoch of a cubic function in nanoseconds, or -1 outside of one; window at its
        plateau in segments; seconds from the start to the plateau.
    """

    name = ""
    """Name used in results. Defaults to the class name in lower case."""
    uses_rate = False
    """Whether ACKs carry delivery rates."""
    paces = False
    """Whether ``pacing_rate`` applies."""
    controls_recovery = False
    """Whether its window also applies in fast recovery, instead of proportional rate reduction (RFC 6937)."""


class LossResponse(Declared, _engine.LossResponse):
    """Base class of custom loss responses, which run before any congestion control.

    A subclass has ``on_loss(self, loss)``, which returns ``lightlag.CONGESTION``, so that the congestion control
    reacts, or ``lightlag.CORRUPTION``: the segment is retransmitted, and neither window nor back-off changes. It is
    called once per episode of lost segments, and at each timeout, unless a congestion mark arrived within a round trip.
    It may have ``on_ack(self, ack)``. One object serves one sender. A scenario names it as ``loss_assumption`` of
    ``tcp`` or ``quic``. With QUIC, ``lightlag.TIMEOUT`` is persistent congestion; a probe timeout has no reaction.

    ``loss`` has ``now_ns``; ``cause``, ``lightlag.LOSS`` or ``lightlag.TIMEOUT``; ``sent_ns``, when the lowest lost
    segment was sent, or -1 if unknown; ``inflight`` and ``cwnd`` in bytes; ``rtt_ns``, ``srtt_ns`` and ``min_rtt_ns``,
    0 before the first sample.
    """

    name = ""
    """Name used in scenarios. Defaults to the class name in lower case."""


class QueueDiscipline(Declared, _engine.QueueDiscipline):
    """Base class of custom queue disciplines.

    A subclass has ``on_enqueue(self, packet)``, ``on_dequeue(self, packet)`` or both. They are called for a packet that
    arrives, and for the head packet before it is sent, and return ``lightlag.PASS``, ``lightlag.DROP`` or
    ``lightlag.MARK``. A packet that cannot be marked is dropped instead. The queue is first in, first out, up to the
    limit of the scenario. One object serves one queue.

    Attributes
    ----------
    packets, bytes
        Number of queued packets and their bytes, without the packet that the hook is called for.
    limit_packets, limit_bytes
        Limit of the queue. The unit that the scenario does not limit is infinite.
    rate
        Rate of the link in bytes per second.
    """

    name = ""
    """Name used in scenarios. Defaults to the class name in lower case."""


class Traffic(Declared, _engine.Traffic):
    """Base class of custom traffic sources.

    A subclass has ``next_message(self, sent)``, which is called when the flow starts and after each message, and sets
    ``self.wait_ns`` and ``self.size``: when the next message is sent and how many bytes it has. A size of 0 ends the
    flow. Both keep their values from call to call. One object serves one flow, of TCP or UDP.

    Attributes
    ----------
    wait_ns
        Nanoseconds from the last message, or the start of the flow, to the next one; between messages, 0 counts as 1.
    size
        Bytes of the next message; 0 if there are no more messages.
    """

    name = ""
    """Name used in scenarios. Defaults to the class name in lower case."""


class Router(Declared, _engine.Router):
    """Base class of custom routers for the nodes of a radio medium.

    A subclass has ``next_hop(self, packet)``, which returns the ID of the neighbour that the packet is sent to, None if
    there is no route, or ``lightlag.HOLD`` to hold the packet until ``self.release(destination)`` or
    ``self.discard(destination)``. It may have ``on_start(self, moment)``, ``on_message(self, message)``,
    ``on_timer(self, moment)`` and ``on_broken(self, broken)``, which decides about the packet: None drops it,
    ``lightlag.HOLD`` holds it, ``lightlag.REROUTE`` requests another next hop. One object serves one node. Node IDs are
    indices in the order of the scenario.

    ``self.send(data, to=None)`` sends bytes to all neighbours, or to one of them, as a datagram on the air.
    ``self.position(node)`` returns the position of a node in metres, and ``self.neighbours(node)`` the nodes that its
    frames reach. Both return the true values, without messages, for protocols that assume a location service, and for
    bounds.

    Attributes
    ----------
    node
        ID of the node.
    wake_ns
        Time of the next call of ``on_timer``, in nanoseconds since the start of the run; -1 for none.
    """

    name = ""
    """Name used in scenarios. Defaults to the class name in lower case."""


class SatelliteRouter(Declared, _engine.SatelliteRouter):
    """Base class of custom routers for a constellation.

    A subclass has ``next_hops(self, sky)``, which is called at each routing update (``interval`` of the constellation)
    for each station that receives packets from satellites. It returns, for each satellite, the index of its next
    satellite, ``lightlag.GROUND`` to send down to the station, or ``lightlag.UNREACHABLE``. Paths must follow links
    that are up and must not contain a loop. Stations send to the satellite that gives the shortest complete path. One
    object serves one run.

    ``sky`` has ``now_ns`` and ``station``, the index of the station, and arrays of numpy for n satellites and m links:
    ``positions`` (n, 3) in metres, in a frame that turns with the Earth; ``links`` (m, 2) with the indices of
    satellites; ``lengths`` (m) in metres, infinite while a link is down; ``loads`` (m), the fraction of the time since
    the last update that a link was busy; ``entries``, the satellites that may send to the station, and
    ``entry_lengths``, their distances from it in metres.
    """

    name = ""
    """Name used in scenarios. Defaults to the class name in lower case."""


def parameter(
    default: T,
    *,
    min: float = float("-inf"),
    max: float = float("inf"),
    unit: str = "",
    meaning: str = "",
    **unknown: NoReturn,
) -> T:
    """Returns a parameter of a custom algorithm, which a scenario can set and a study can vary.

    Examples
    --------
    >>> import lightlag as ll
    >>> class Mine(ll.CongestionControl):
    ...     beta: float = ll.parameter(0.7, min=0.1, max=0.99)
    """
    for name in unknown:
        raise TypeError(renamed(f"parameter.{name}=") or f"parameter has no argument {name!r}")
    about = {"min": min, "max": max, "unit": unit, "meaning": meaning}
    return dataclasses.field(default=default, metadata=about)


def state(default: T) -> T:
    """Declares state of a custom algorithm: a field that each object has its own copy of, which is not a parameter."""
    # A factory, so that each object gets it as its own and the class keeps the field.
    return dataclasses.field(init=False, default_factory=lambda: default)


def uniform(algorithm: Any) -> float:
    """Returns a random number from 0 up to, but not including, 1, from the run's stream for this connection or queue.

    Interpreted and compiled classes draw the same numbers (SplitMix64, as `uniform` of ``lightlag-plugin``).
    """
    mask = (1 << 64) - 1
    mixed = algorithm.random = (algorithm.random + 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return float(((mixed ^ (mixed >> 31)) >> 11) / (1 << 53))
