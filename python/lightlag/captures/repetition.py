"""Repeats a real run: a capture of a sender becomes a scenario for our sender.

The engine infers what the sender did (:class:`Sending`); :func:`scenario_of` turns that into a scenario with one link
and the same losses by packet number; :func:`repeat` runs it, captures it at the same end and lays both side by side.
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
"""The rate of the link where a capture shows too little to tell one."""
SPARE_QUEUE = 100
"""Packets for which the queue has room beside twice what the real one held."""
_EPISODES = 20
_MSS = (36, 65_000)
_BUFFER = (64, 65_535 << 14)
_INITIAL_WINDOW = 1_000
_RATE = (1.0, 1e15)
_LONGEST_S = 480 * 3600.0
"""Limits that a scenario allows: bytes, segments, bit/s, seconds."""
_LINUX = (60_000, 65_536)
_LINUX_BUFFER = 80_896
"""The first windows of Linux, and the first size of a buffer that the scenario takes by default for them."""


class Sending:
    """The actions of a sender, as a capture shows them.

    Parameters
    ----------
    capture
        A pcapng or pcap file.
    flow
        Number of the connection; by default the one with the most data.
    """

    def __init__(self, capture: str | os.PathLike[str], flow: int | None = None) -> None:
        if Path(capture).is_dir():
            raise InputError(f"{capture}: is a folder; name a capture in it")
        try:
            # A capture is read twice.
            check_regular(capture)
            about, sent, acks = _engine.sending(Path(capture), flow)
        except ValueError as error:
            raise InputError(str(error)) from None
        except OSError as error:
            place = "" if str(error).startswith(str(capture)) else f"{printable(capture)}: cannot be read: "
            raise InputError(f"{place}{error}; name a capture: pcapng or pcap") from None
        self.summary: dict[str, Any] = json.loads(about)
        self._sent, self._acks = sent, acks

    @cached_property
    def packets(self) -> pl.DataFrame:
        """The data packets: time_s from the first one, start, bytes, again (sent before), lost. Number 1 is first."""
        import polars as pl

        return pl.DataFrame(self._sent)

    @cached_property
    def acks(self) -> pl.DataFrame:
        """The ACKs that moved forward: time_s from the first data packet, and the number."""
        import polars as pl

        return pl.DataFrame(self._acks)

    @property
    def goodput_bps(self) -> float:
        """Payload in bits over the time from the first data to the ACK of the last."""
        duration = float(self.summary["duration_s"])
        return 8.0 * float(self.summary["transfer_bytes"]) / duration if duration > 0 else 0.0

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """Stretches in which losses were repaired."""
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
    """The scenario in which our sender meets what the real one met.

    Parameters
    ----------
    profile, congestion
        Our sender.
    where
        Where packets are lost: ``"after queue"`` or ``"before queue"``.
    rate, queue
        The bottleneck's rate, and how many packets may wait and be in service; by default as inferred. With a queue
        given, every loss of the real run is repeated by its number, those of a full queue too.
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
        tcp |= {"dsack": False, "recovery": "newreno", "tlp": False, "prr": False}
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
    """Packets of a queue that drops only what the real one dropped."""
    held = real["path"]["queue_packets"]
    if held is None:
        # All that the receiver lets the sender have in flight.
        return math.ceil(float(real["receive_window"]) / float(real["full_segment"])) + SPARE_QUEUE
    return int(held if overflows else 2 * held + SPARE_QUEUE)


def _duration(real: dict[str, Any]) -> float:
    """Seconds in which our sender has time enough: a multiple of the real transfer."""
    took, round_trip = float(real["duration_s"]), float(real["path"]["propagation_s"])
    if max(took, round_trip) > _LONGEST_S / 2:
        what = "transfer" if took > round_trip else "round trip"
        raise InputError(
            f"connection {real['connection']} cannot be repeated: its {what} takes {max(took, round_trip):.4g} s, "
            f"and a run at most {_LONGEST_S:.0f} s; take a part of the capture, or check its clock"
        )
    return min(5 * took + 100 * round_trip + 60, _LONGEST_S)


def _receive_buffer(real: dict[str, Any]) -> str | dict[str, Any]:
    """A window that grew beyond twice the first one is that of a buffer that tunes itself; another shows its size."""
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
    """Repeats the run in a capture; the other options are those of :func:`scenario_of`.

    Parameters
    ----------
    spool
        Where our run stands until it is saved; by default among temporary files.
    """
    from lightlag.results.result import load
    from lightlag.running.single import run

    real = Sending(capture, flow)
    scenario = scenario_of(real, **options)
    at = RECEIVER if real.summary["vantage"] == "receiver" else SENDER
    # The folder of our run and its capture, kept as long as somebody may ask to save them elsewhere.
    spool = tempfile.mkdtemp(prefix="lightlag-", dir=spool)
    forget = functools.partial(shutil.rmtree, spool, ignore_errors=True)
    try:
        result = run(scenario | {"record": scenario["record"] | {"pcap": {"at": [at]}}}, spool=spool)
        folder = result.save(Path(spool) / "run")
        ours = Sending(folder / "captures" / f"{at}.pcapng")
    except InputError as error:
        forget()
        raise InputError(f"our own run cannot be compared: {error}") from None
    except BaseException:
        forget()
        raise
    repetition = Repetition(Path(capture), scenario, real, ours, load(folder), folder)
    weakref.finalize(repetition, forget)
    return repetition


@dataclass(frozen=True)
class Repetition:
    """A real run and ours side by side."""

    capture: Path
    """The capture of the real one."""
    scenario: dict[str, Any]
    """The scenario of our run."""
    real: Sending
    ours: Sending
    result: Result
    folder: Path
    """The folder of our run."""

    def same_packets(self) -> int:
        """Number of data packets from the first on that are the same in both, in number, start and bytes."""
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
        """The comparison as text."""
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
                "same packets from the first on",
                str(self.same_packets()),
                f"of {self.ours.packets.height}",
                "",
            ),
        ]
        return [{"": name, "real": real, "ours": ours, "ours to real": change} for name, real, ours, change in rows]

    def episode_rows(self) -> list[Row]:
        """The repairs of both, in order, as text: at most the first 20."""
        rows = []
        for at in range(min(_EPISODES, max(len(self.real.episodes), len(self.ours.episodes)))):
            row = {"": str(at + 1)}
            for name, sending in (("real", self.real), ("ours", self.ours)):
                episode = sending.episodes[at] if at < len(sending.episodes) else None
                row |= _episode(name, episode)
            rows.append(row)
        return rows

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """Sequence over time of both, with retransmissions and losses.

        Parameters
        ----------
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Axes of a figure of yours to draw into.
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
                label=f"{name}: sent again",
            )
        framing.finish(axes, "Sequence, real and ours", self.capture.name)
        axes.set_xlabel("time since the first data (s)")
        axes.set_ylabel("payload (MB)")
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, format: str = "pdf") -> Path:
        """Writes the results folder of our run with scenario.toml, comparison.json and sequence.pdf in it.

        Parameters
        ----------
        format
            That of the figure: pdf, svg, png or pgf.
        """
        (self.folder / "scenario.toml").write_text(toml.document(self.scenario) + "\n", "utf-8")
        (self.folder / "comparison.json").write_text(json.dumps(self.summary, indent=2) + "\n", "utf-8")
        self.plot(self.folder / f"sequence.{format}")
        return self.result.save(folder, force=force)


def _ratio(real: float, ours: float) -> str:
    return "–" if real <= 0 else f"×{ours / real:.3f}"


def _episode(name: str, episode: dict[str, Any] | None) -> Row:
    keys = (f"{name}: at", f"{name}: by", f"{name}: flight", f"{name}: lasted", f"{name}: sent again")
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
