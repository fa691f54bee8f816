"""Repeats a real run: a capture of a sender becomes a scenario for our sender.

The engine infers the actions of the sender (:class:`Sending`); :func:`scenario_of` turns that into a scenario with one
link and the same losses by packet number; :func:`repeat` runs it, captures it at the same end and lays both side by
side.
"""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lightlag import _engine
from lightlag._renamed import former_attributes
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.files.input import check_regular
from lightlag.scenario import toml
from lightlag.text.quantities import milliseconds, number, rate, size
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

    from lightlag.drawing.style import Chart
    from lightlag.results.result import Result
    from lightlag.text.table import Row

__all__ = ["Repetition", "Sending", "repeat", "scenario_of"]

SENDER, RECEIVER = "sender", "receiver"
UNKNOWN_RATE = "1 Gbit/s"
"""Rate of the link if too little of it shows in the capture to infer one."""
SPARE_QUEUE = 100
"""Packets that fit into the queue in addition to twice the real queue's maximum."""
_EPISODES = 20
_MSS = (36, 65_000)
_BUFFER = (64, 65_535 << 14)
_INITIAL_WINDOW = 1_000
_RATE = (1.0, 1e15)
_LONGEST_S = 480 * 3600.0
"""Ranges of values that a scenario allows: bytes, segments, bit/s and seconds."""
_LINUX = (60_000, 65_536)
_LINUX_BUFFER = 80_896
"""Range of the first receive windows of Linux, in bytes, and the initial buffer that the scenario assumes for them."""


class Sending:
    """The actions of a sender, inferred from a capture.

    Parameters
    ----------
    capture
        A pcapng or pcap file.
    flow
        Index of the connection. Defaults to the one with the most data.
    """

    def __init__(self, capture: str | os.PathLike[str], flow: int | None = None) -> None:
        if Path(capture).is_dir():
            raise InputError(f"{capture}: is a directory; name a capture in it")
        try:
            # A capture is read twice.
            check_regular(capture)
            about, sent, acks, seen = _engine.sending(Path(capture), flow)
        except ValueError as error:
            raise InputError(str(error)) from None
        except OSError as error:
            place = "" if str(error).startswith(str(capture)) else f"{printable(capture)}: cannot be read: "
            raise InputError(f"{place}{error}; name a capture: pcapng or pcap") from None
        self.summary: dict[str, Any] = json.loads(about)
        self._sent, self._acks, self._seen = sent, acks, seen

    @cached_property
    def packets(self) -> pl.DataFrame:
        """The data packets, counted from 1: ``time_s`` since the first one, ``start``, ``bytes``, ``again`` (sent
        before), ``lost``.
        """
        import polars as pl

        return pl.DataFrame(self._sent)

    @cached_property
    def acks(self) -> pl.DataFrame:
        """The ACKs that advanced, with the time since the first data packet in ``time_s``."""
        import polars as pl

        return pl.DataFrame(self._acks)

    @cached_property
    def seen(self) -> pl.DataFrame:
        """All packets of the connection as captured: ``time_s`` as in ``packets``, ``by_sender``, ``start``, ``bytes``,
        ``acked``, ``window`` in bytes, ``timestamp`` and ``echo`` (RFC 7323 §3). Offsets start at 0.
        """
        import polars as pl

        return pl.DataFrame(self._seen)

    @property
    def goodput_bps(self) -> float:
        """Payload in bits, divided by the time from the first data packet to the ACK of the last."""
        duration = float(self.summary["duration_s"])
        return 8.0 * float(self.summary["transfer_bytes"]) / duration if duration > 0 else 0.0

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """Loss episodes: intervals of loss repair."""
        return cast("list[dict[str, Any]]", self.summary["episodes"])

    def timeouts(self) -> int:
        """Episodes started by a timeout."""
        return sum(episode["cause"] == "timeout" for episode in self.episodes)

    def recoveries(self) -> int:
        """Episodes started by ACKs."""
        return sum(episode["cause"] in ("fast", "unknown") for episode in self.episodes)


def scenario_of(
    sending: Sending,
    *,
    profile: str = "linux",
    congestion: str | Mapping[str, Any] = "cubic",
    where: str = "after queue",
    rate: str | None = None,
    queue: int | None = None,
    name: str = "replay",
) -> dict[str, Any]:
    """Returns the scenario that exposes the simulated sender to the conditions of the real one.

    Parameters
    ----------
    profile, congestion
        Settings of the simulated sender.
    where
        Where packets are lost: ``"after queue"`` or ``"before queue"``.
    rate, queue
        The bottleneck's rate, and the number of packets that may wait and be in service; by default as inferred. With a
        queue given, every loss of the real run is repeated by its packet number, including losses from a full queue.
    """
    real, path = sending.summary, sending.summary["path"]
    forward, backward = real["handshakes"]
    if rate is None:
        known = path["rate_bps"]
        rate = UNKNOWN_RATE if not known else f"{_within(known, _RATE):.0f} bit/s"
    overflowed = set(real["overflowed"]) if queue is None else set()
    if queue is None:
        queue = min(_queue(real, overflows=bool(overflowed)), 10**9)
    tcp: dict[str, Any] = {
        "profile": profile,
        "congestion": congestion,
        "mss": f"{_within(min(side['mss'] or 536 for side in (forward, backward)), _MSS)} B",
        "sack": forward["sack_permitted"] and backward["sack_permitted"],
        "timestamps": forward["timestamps"] and backward["timestamps"],
        "window_scaling": forward["window_scale"] is not None and backward["window_scale"] is not None,
        "receive_buffer": _receive_buffer(real),
    }
    if not tcp["sack"]:
        tcp |= {"dsack": False, "recovery": "newreno", "tlp": False}
    if real["initial_window"] is not None:
        tcp["initial_window"] = min(real["initial_window"], _INITIAL_WINDOW)
    if forward["ecn"] == backward["ecn"] == "classic":
        tcp["ecn"] = "classic"
    link: dict[str, Any] = {
        "between": [SENDER, RECEIVER],
        "rate": rate,
        "delay": f"{path['propagation_s'] / 2 * 1e6:.3f} us",
        "queue": {"discipline": "drop_tail", "limit": f"{queue} packets", "count_in_service": True},
    }
    if lost := [number for number in real["lost"] if number not in overflowed]:
        link["loss"] = {"packets": lost, "where": where, "direction": "forward"}
    return {
        "name": name,
        "duration": f"{_duration(real):.0f} s",
        "ip": "v6" if real["client"].startswith("[") else "v4",
        "record": {"acks": True},
        "defaults": {"tcp": tcp},
        "links": [link],
        "flows": [{"from": SENDER, "to": RECEIVER, "transfer": f"{real['transfer_bytes']} B"}],
    }


def _within(value: float, bounds: tuple[float, float]) -> float:
    return min(max(value, bounds[0]), bounds[1])


def _queue(real: dict[str, Any], overflows: bool) -> int:
    """Returns the queue limit in packets with which the simulated queue drops the same packets as the real one."""
    held = real["path"]["queue_packets"]
    if held is None:
        # All that the receiver lets the sender have in flight.
        return math.ceil(float(real["receive_window"]) / float(real["full_segment"])) + SPARE_QUEUE
    return int(held if overflows else 2 * held + SPARE_QUEUE)


def _duration(real: dict[str, Any]) -> float:
    """Duration of the simulated transfer in seconds: a multiple of the real transfer."""
    took, round_trip = float(real["duration_s"]), float(real["path"]["propagation_s"])
    if max(took, round_trip) > _LONGEST_S / 2:
        what = "transfer" if took > round_trip else "round trip"
        raise InputError(
            f"connection {real['connection']} cannot be repeated: its {what} takes {max(took, round_trip):.4g} s, "
            f"and the maximum of a run is {_LONGEST_S:.0f} s; use a part of the capture, or check its clock"
        )
    return min(5 * took + 100 * round_trip + 60, _LONGEST_S)


def _receive_buffer(real: dict[str, Any]) -> str | dict[str, Any]:
    """Infers the receive buffer from the advertised windows.

    A window that grew to more than twice the first one belongs to an auto-tuned buffer; any other has the size of the
    buffer.
    """
    largest, first = (int(_within(real[key], _BUFFER)) for key in ("receive_window", "first_receive_window"))
    if largest <= 2 * first:
        return f"{largest} B"
    if _LINUX[0] <= first <= _LINUX[1] and largest >= _LINUX_BUFFER:
        return {"auto": {"max": f"{largest} B"}}
    # The first window of an automatic buffer is four fifths of its size and of 1 KiB.
    return {"auto": {"initial": f"{max(first * 5 // 4 - 1024, _BUFFER[0])} B", "max": f"{largest} B"}}


def repeat(
    capture: str | os.PathLike[str],
    *,
    flow: int | None = None,
    spool: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Repetition:
    """Repeats the real run of a capture; the other options are passed to :func:`scenario_of`.

    Parameters
    ----------
    spool
        Directory for the simulated run until it is saved. Defaults to a temporary directory.
    """
    from lightlag.results.result import load
    from lightlag.running.single import run

    real = Sending(capture, flow)
    scenario = scenario_of(real, **options)
    at = RECEIVER if real.summary["vantage"] == "receiver" else SENDER
    # The directory of our run and its capture, kept as long as somebody may ask to save them elsewhere.
    spool = tempfile.mkdtemp(prefix="lightlag-", dir=spool)
    forget = functools.partial(shutil.rmtree, spool, ignore_errors=True)
    try:
        result = run(scenario | {"record": scenario["record"] | {"pcap": {"at": [at]}}}, spool=spool)
        directory = result.save(Path(spool) / "run")
        ours = Sending(directory / "captures" / f"{at}.pcapng")
    except InputError as error:
        forget()
        raise InputError(f"our own run cannot be compared: {error}") from None
    except BaseException:
        forget()
        raise
    repetition = Repetition(Path(capture), scenario, real, ours, load(directory), directory)
    weakref.finalize(repetition, forget)
    return repetition


@former_attributes("Repetition")
@dataclass(frozen=True)
class Repetition:
    """A real run and the simulated one side by side."""

    capture: Path
    """The capture of the real run."""
    scenario: dict[str, Any]
    """The scenario of the simulated run."""
    real: Sending
    ours: Sending
    result: Result
    directory: Path
    """The directory of the simulated run."""

    def same_packets(self) -> int:
        """Returns how many data packets at the start of both runs are the same: equal number, start and bytes."""
        columns = ["start", "bytes"]
        pairs = zip(
            self.real.packets.select(columns).iter_rows(), self.ours.packets.select(columns).iter_rows(), strict=False
        )
        same = 0
        for real, ours in pairs:
            if real != ours:
                break
            same += 1
        return same

    @property
    def summary(self) -> dict[str, Any]:
        """Both runs and their differences, as plain data."""

        def of(sending: Sending) -> dict[str, Any]:
            return sending.summary | {
                "goodput_bps": sending.goodput_bps,
                "timeouts": sending.timeouts(),
                "recoveries": sending.recoveries(),
            }

        real = self.real.goodput_bps
        return {
            "capture": str(self.capture),
            "real": of(self.real),
            "ours": of(self.ours),
            "goodput_ratio": self.ours.goodput_bps / real if real > 0 else None,
            "same_packets": self.same_packets(),
        }

    def rows(self) -> list[Row]:
        """Returns the comparison as text."""
        both = (self.real, self.ours)
        counts = {
            "data packets": [sending.packets.height for sending in both],
            "lost": [len(sending.summary["lost"]) for sending in both],
            "retransmissions": [sending.summary["retransmissions"] for sending in both],
            "recoveries": [sending.recoveries() for sending in both],
            "timeouts": [sending.timeouts() for sending in both],
        }
        times = [sending.summary["duration_s"] for sending in both]
        goodputs = [sending.goodput_bps for sending in both]
        highest = [sending.summary["path"]["max_rtt_s"] for sending in both]
        sizes = [size(sending.summary["transfer_bytes"]) for sending in both]
        rows = [
            ("transfer", *sizes, ""),
            ("duration", *(f"{number(time)} s" for time in times), _ratio(*times)),
            ("goodput", *(rate(goodput) for goodput in goodputs), _ratio(*goodputs)),
            *((name, str(real), str(ours), f"{ours - real:+d}") for name, (real, ours) in counts.items()),
            ("highest RTT", *(milliseconds(rtt) for rtt in highest), _ratio(*highest)),
            (
                "identical packets at the start",
                str(self.same_packets()),
                f"of {self.ours.packets.height}",
                "",
            ),
        ]
        return [{"": name, "real": real, "ours": ours, "ours to real": change} for name, real, ours, change in rows]

    def episode_rows(self) -> list[Row]:
        """Returns the loss repairs of both runs as text, in order: at most the first 20."""
        rows = []
        for at in range(min(_EPISODES, max(len(self.real.episodes), len(self.ours.episodes)))):
            row = {"": str(at + 1)}
            for name, sending in (("real", self.real), ("ours", self.ours)):
                episode = sending.episodes[at] if at < len(sending.episodes) else None
                row |= _episode(name, episode)
            rows.append(row)
        return rows

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """Plots the sequence over time of both runs, with retransmissions and losses.

        Parameters
        ----------
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Existing axes to draw into; by default a new figure is created.
        """
        from lightlag.drawing import style

        figure = styled(self._figure)(ax=ax)
        if path is not None:
            style.save(figure, path)
        return figure

    def _figure(self, *, ax: Any) -> Chart:
        from lightlag.drawing import framing, style

        figure, axes = style.chart(ax=ax)
        for at, (name, sending) in enumerate((("real", self.real), ("ours", self.ours))):
            packets = sending.packets
            looks = style.line_style(at)
            first, again = packets.filter(~packets["again"]), packets.filter(packets["again"])
            end = (first["start"] + first["bytes"]).to_numpy() / 1e6
            axes.plot(first["time_s"].to_numpy(), end, drawstyle="steps-post", label=name, **looks)
            axes.plot(
                again["time_s"].to_numpy(),
                again["start"].to_numpy() / 1e6,
                marker="o" if at == 0 else "x",
                markersize=3.5,
                linestyle="none",
                color=looks["color"],
                label=f"{name}: retransmitted",
            )
        framing.finish(axes, "Sequence, real and simulated", self.capture.name)
        axes.set_xlabel("time since the first data (s)")
        axes.set_ylabel("payload (MB)")
        return figure

    def save(self, directory: str | os.PathLike[str], *, force: bool = False, format: str = "pdf") -> Path:
        """Writes the results directory of the simulated run with scenario.toml, comparison.json and sequence.pdf in it.

        Parameters
        ----------
        format
            Format of the figure: pdf, svg, png or pgf.
        """
        (self.directory / "scenario.toml").write_text(toml.document(self.scenario) + "\n", "utf-8")
        (self.directory / "comparison.json").write_text(json.dumps(self.summary, indent=2) + "\n", "utf-8")
        self.plot(self.directory / f"sequence.{format}")
        return self.result.save(directory, force=force)


def _ratio(real: float, ours: float) -> str:
    return "–" if real <= 0 else f"×{ours / real:.3f}"


def _episode(name: str, episode: dict[str, Any] | None) -> Row:
    keys = (f"{name}: at", f"{name}: by", f"{name}: flight", f"{name}: lasted", f"{name}: retransmitted")
    if episode is None:
        return dict.fromkeys(keys, "–")
    lasted = episode["duration_s"]
    values = (
        f"{number(episode['begin_s'])} s",
        episode["cause"].replace("_", " "),
        size(episode["flight_bytes"]),
        "–" if lasted is None else milliseconds(lasted),
        str(episode["retransmissions"]),
    )
    return dict(zip(keys, values, strict=True))
