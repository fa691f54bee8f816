"""The log of one end of a connection: what it sends and receives, and the state of its sender."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from lightlag.qlog.direction import Direction, ranges, stream_frame
from lightlag.qlog.flight import Transmission
from lightlag.qlog.segment import ACK, FIN, RST, SYN, Segment
from lightlag.qlog.sequence import Sequence
from lightlag.qlog.state import SenderState

__all__ = ["Vantage"]


class Vantage:
    """Writes the events of one end of a connection.

    All packets have the type 1RTT, so that they share one space of numbers, and the flags of the TCP header. Losses
    follow from the bytes in flight that the sender reports after each packet. Data that the sender does not count as in
    flight is a PING: the byte of a window probe, and copies that probe the bandwidth.

    Parameters
    ----------
    log
        The file.
    title, description
        Texts of the trace.
    name
        Name of the node.
    uses_sack
        Whether the sender repairs losses by SACK, if both ends permit it.
    """

    def __init__(self, log: Sequence, title: str, description: str, name: str, *, uses_sack: bool) -> None:
        self._log = log
        self._about = {"title": title, "description": description}
        self._name = name
        self._uses_sack = uses_sack
        self._started = False
        self._confirmed = False
        self._closed = False
        self._own = Direction()
        self._peer = Direction()
        self._state: SenderState | None = None
        self._congestion: str | None = None
        self._rtt: dict[str, float] = {}
        self._metrics: dict[str, float] = {}
        self._received_now = False

    def sent(self, time_ns: int, number: int, segment: Segment, state: SenderState | None) -> None:
        """Logs a packet that this end sends, and the losses that the sender detected before."""
        self._start(time_ns, segment, self._own, is_sent=True)
        if segment.has(SYN) and self._own.syn is not None:
            header = self._header(self._own.syn, SYN)
            self._log.event(time_ns, "recovery:packet_lost", {"header": header, "trigger": "pto_expired"})
        frames = self._acknowledgement(segment, self._peer, self._own)
        trigger = self._carry(time_ns, number, segment, state, frames)
        event = self._packet(number, segment, frames)
        self._log.event(time_ns, "transport:packet_sent", event if trigger is None else event | {"trigger": trigger})
        self._state = state or self._state
        self._end(time_ns, segment, "local")

    def received(self, time_ns: int, number: int | None, segment: Segment, state: SenderState | None) -> None:
        """Logs a packet that this end receives, and the losses that it reports."""
        self._start(time_ns, segment, self._peer, is_sent=False)
        self._received_now = True
        frames = self._acknowledgement(segment, self._own, self._peer)
        if number is not None and (data := self._peer.carry(number, segment)):
            frames.append(stream_frame(*data, segment.has(FIN)))
        self._log.event(time_ns, "transport:packet_received", self._packet(number, segment, frames))
        if state is not None:
            self._detect(time_ns, state)
            self._state = state
        self._end(time_ns, segment, "remote")

    def sample(self, rtt_ms: float | None, pacing_bps: float | None) -> None:
        """Adds values of the trace to the metrics of this time."""
        if rtt_ms is not None:
            self._rtt["min_rtt"] = min(rtt_ms, self._rtt.get("min_rtt", rtt_ms))
            self._rtt["latest_rtt"] = rtt_ms
        if pacing_bps is not None:
            self._rtt["pacing_rate"] = round(pacing_bps)

    def settle(self, time_ns: int) -> None:
        """Logs the changes of the sender, after everything that happens at a time."""
        self._received_now = False
        state = self._state
        if state is None:
            return
        if state.congestion_state != self._congestion:
            old = {} if self._congestion is None else {"old": self._congestion}
            self._congestion = state.congestion_state
            self._log.event(time_ns, "recovery:congestion_state_updated", old | {"new": self._congestion})
        metrics: dict[str, float] = {"congestion_window": state.cwnd, "bytes_in_flight": state.inflight}
        if state.ssthresh is not None:
            metrics["ssthresh"] = state.ssthresh
        if state.srtt_ms is not None:
            metrics["smoothed_rtt"] = state.srtt_ms
        metrics |= self._rtt
        changed = {key: value for key, value in metrics.items() if self._metrics.get(key) != value}
        if changed:
            self._metrics |= changed
            self._log.event(time_ns, "recovery:metrics_updated", changed)

    def _start(self, time_ns: int, segment: Segment, sender: Direction, *, is_sent: bool) -> None:
        """Logs the start of the connection and the parameters of an end, when its SYN is sent or received."""
        if not self._started:
            self._started = True
            self._log.record(self._file_header(is_client=is_sent))
            ends = (segment.source, segment.destination)
            (own, port), (other, other_port) = ends if is_sent else ends[::-1]
            addresses = {"src_ip": _text(own), "dst_ip": _text(other)}
            version = {"ip_version": "v4" if len(own) == 4 else "v6"}
            ports = {"protocol": "TCP", "src_port": port, "dst_port": other_port}
            self._log.event(time_ns, "connectivity:connection_started", version | addresses | ports)
            self._log.event(time_ns, "connectivity:connection_state_updated", {"new": "attempted"})
        if segment.has(SYN) and sender.initial is None:
            sender.open(segment)
            owner = {"owner": "local" if is_sent else "remote", "initial_max_data": segment.window}
            self._log.event(time_ns, "transport:parameters_set", owner | segment.parameters)

    def _file_header(self, *, is_client: bool) -> dict[str, Any]:
        return {
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            **self._about,
            "trace": {
                **self._about,
                "vantage_point": {"name": self._name, "type": "client" if is_client else "server"},
                "common_fields": {"time_format": "relative", "reference_time": 0.0, "protocol_type": ["TCP"]},
            },
        }

    def _acknowledgement(self, segment: Segment, about: Direction, sender: Direction) -> list[dict[str, Any]]:
        """Returns the frames for the ACK and the window of a segment."""
        if not segment.has(ACK) or about.initial is None:
            return []
        frames: list[dict[str, Any]] = []
        if numbers := about.acknowledge(segment):
            frames.append({"frame_type": "ack", "acked_ranges": ranges(numbers)})
        granted = None if segment.has(RST) else about.grant(segment, sender.scale)
        if granted is not None:
            frames.append({"frame_type": "max_data", "maximum": granted})
        return frames

    def _carry(
        self, time_ns: int, number: int, segment: Segment, state: SenderState | None, frames: list[dict[str, Any]]
    ) -> str | None:
        """Adds the data of a packet that is sent to its frames, and logs the losses that the sender detected before.

        Returns the trigger of a retransmission or a probe.
        """
        flight = self._own.flight
        top, una, size = flight.top, flight.una, flight.size
        data = self._own.carry(number, segment)
        if data is None:
            return None
        is_window_probe = state is not None and data[0] >= self._own.granted and state.inflight == size
        if state is not None and (segment.is_copy or is_window_probe):
            flight.withdraw(number, top)
            frames.append({"frame_type": "ping"})
            return "pto_probe" if is_window_probe else "cc_bandwidth_probe"
        frames.append(stream_frame(*data, segment.has(FIN)))
        if state is None:
            return None
        self._detect(time_ns, state, (number, *data))
        return _RETRANSMISSIONS[state.phase] if una <= data[0] < top else None

    def _packet(self, number: int | None, segment: Segment, frames: list[dict[str, Any]]) -> dict[str, Any]:
        if segment.has(RST):
            frames.append({"frame_type": "connection_close", "reason": "RST"})
        raw = {"length": len(segment.header) + segment.length, "payload_length": segment.length}
        return {"header": self._header(number, segment.flags), "frames": frames, "raw": raw}

    def _header(self, number: int | None, flags: int | None = None) -> dict[str, Any]:
        header: dict[str, Any] = {"packet_type": "1RTT"}
        if number is not None:
            header["packet_number"] = number
        return header | ({} if flags is None else {"flags": flags})

    def _detect(self, time_ns: int, state: SenderState, sent: tuple[int, int, int] | None = None) -> None:
        """Logs the packets that the sender has declared lost.

        The outstanding bytes exceed the bytes in flight that it reports by what it declared lost: earlier transmissions
        of the data in `sent`, then the packets that were sent first. If it reports more, it has undone losses. Without
        SACK it guesses which segments have left, so only retransmitted data counts as lost.
        """
        flight = self._own.flight
        if not (self._uses_sack and self._peer.has_sack and self._own.has_sack):
            if sent is not None and state.phase != "open":
                self._lose(time_ns, state, list(flight.earlier(*sent)))
            return
        excess = flight.size - state.inflight
        if excess > 0:
            earlier = [] if sent is None else flight.earlier(*sent)
            known = {each.number for each in earlier} | ({sent[0]} if sent else set())
            others = (each for each in flight.outstanding() if each.number not in known)
            self._lose(time_ns, state, _fitting(earlier, others, excess))
        elif excess < 0 and sent is None:
            for each in _fitting(flight.lost(), (), -excess):
                flight.restore(each.number)
                self._log.event(time_ns, "recovery:loss_undone", {"header": self._header(each.number)})

    def _lose(self, time_ns: int, state: SenderState, packets: list[Transmission]) -> None:
        trigger = {}
        if not self._received_now:
            trigger = {"trigger": "pto_expired" if state.phase == "loss" else "time_threshold"}
        for each in packets:
            self._own.flight.lose(each.number)
            frames = [stream_frame(each.start, each.end, each.end == self._own.end)]
            event = {"header": self._header(each.number), "frames": frames}
            self._log.event(time_ns, "recovery:packet_lost", event | trigger)

    def _end(self, time_ns: int, segment: Segment, owner: str) -> None:
        """Logs the states that a segment completes: the handshake, and the end of the connection."""
        is_open = self._own.initial is not None and self._peer.initial is not None
        if is_open and not self._confirmed and not segment.has(SYN):
            self._confirmed = True
            self._log.event(time_ns, "connectivity:connection_state_updated", _CONFIRMED)
        if self._closed:
            return
        if segment.has(RST):
            self._closed = True
            self._log.event(time_ns, "connectivity:connection_closed", {"owner": owner, "trigger": "error"})
        elif self._own.is_acknowledged and self._peer.is_acknowledged:
            self._closed = True
            self._log.event(time_ns, "connectivity:connection_closed", {"trigger": "clean"})


_RETRANSMISSIONS = {"open": "pto_probe", "recovery": "retransmit_reordered", "loss": "retransmit_timeout"}
"""Trigger of a retransmission in each phase of the sender; outside of a repair it is a probe."""
_CONFIRMED = {"old": "attempted", "new": "handshake_confirmed"}


def _fitting(first: Iterable[Transmission], then: Iterable[Transmission], size: int) -> list[Transmission]:
    """Returns the first packets that have at most `size` bytes together."""
    found: list[Transmission] = []
    for packets in (first, then):
        for each in packets:
            if size <= 0:
                return found
            if each.length <= size:
                found.append(each)
                size -= each.length
    return found


def _text(address: bytes) -> str:
    return str(ipaddress.ip_address(address))
