"""Writes the logs of a run: which flows there are, their captures, and the packets of all of them in order."""

from __future__ import annotations

import heapq
import itertools
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.errors import FolderError, InputError
from lightlag.files.output import MADE_BY, check_file, new_file
from lightlag.qlog import quic
from lightlag.qlog.blocks import CaptureFile
from lightlag.qlog.passage import Passage
from lightlag.qlog.segment import Segment, segment_of
from lightlag.qlog.sequence import Sequence, Sequences
from lightlag.qlog.state import state_of
from lightlag.qlog.vantage import Vantage
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag import _engine
    from lightlag.records.records import Records

__all__ = ["FILE_SUFFIX", "changes", "check", "check_scenario", "write"]

FILE_SUFFIX = ".sqlog"
"""Suffix of JSON text sequences of qlog."""
_SENDER_PORTS = range(49_152, 65_536)
_DISCARD, _MORE_RECEIVERS = 9, 41_000
"""Ports in captures: flows in turn have the dynamic ports; then receivers have further ones."""
_RECEIVER = "-receiver"
_UDP = "udp"
_WITHOUT_SACK = ("reno", "newreno")
"""Recoveries that count duplicate ACKs, also where SACK is permitted."""

_ONE_FILE = (
    "{path}: is one file for the sender of one flow, and there are {flows}; name a directory, or select a flow "
    "(--pcap --pcap-flow NAME)"
)

Address = tuple[bytes, int]
"""Address and port."""

_NO_CAPTURES = (
    "no captures of both endpoints with comments were recorded; run with --qlog, or with pcap = { comments = true } "
    "under [record]"
)


@dataclass(frozen=True)
class _Flow:
    """A flow: its index, name and end nodes, whether proxies split it, and whether it repairs by SACK."""

    index: int
    name: str
    nodes: tuple[str, str]
    is_split: bool
    uses_sack: bool


@dataclass(frozen=True, slots=True)
class _Packet:
    """A segment that an end sends or receives, and the comment of its capture."""

    segment: Segment
    is_sent: bool
    comment: str


@dataclass(frozen=True, slots=True)
class _Sample:
    """A row of the trace about the sender of a flow."""

    vantage: Vantage
    rtt_ms: float | None
    pacing_bps: float | None


@dataclass(frozen=True)
class _End:
    """One end of a flow: its log, and the numbers of the packets that it sends and receives."""

    vantage: Vantage
    outgoing: Passage
    incoming: Passage
    file: Path


def changes(schema: str | None = None) -> list[tuple[str, str]]:
    """Returns the changes to a scenario that record everything that logs need.

    Parameters
    ----------
    schema
        Form of the logs of QUIC: ``"0.3"`` or ``"main-14"``. Defaults to the scenario's.
    """
    chosen = [] if schema is None else [("record.pcap.qlog_schema", json.dumps(schema))]
    return [("record.pcap.comments", "true"), *chosen]


def check(path: str | os.PathLike[str], *, force: bool = False, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Fails if logs must not be written to a path, before a run.

    Parameters
    ----------
    path
        A directory, or a file with the suffix `.sqlog`.
    force
        Replace files that lightlag did not write.
    inputs
        Files and results directories that are read. They are never replaced.

    Raises
    ------
    FileExistsError, FolderError
        As :func:`lightlag.files.output.check_file`.
    """
    path = Path(path)
    if path.suffix == FILE_SUFFIX:
        check_file(path, force=force, inputs=inputs)
        return
    if "\0" in str(path) or str(path) == "-":
        raise FolderError(f"{printable(path)}: is not a valid name; name a directory, or a file *{FILE_SUFFIX}")
    parent = next(each for each in (path, *path.absolute().parents) if os.path.lexists(each))
    if not parent.is_dir():
        raise FolderError(f"{printable(parent)}: is not a directory; name one, or a file *{FILE_SUFFIX}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FolderError(f"{printable(path)}: cannot be written: you have no write permission; choose another path")
    for file in sorted(path.glob(f"*{FILE_SUFFIX}")) if path.is_dir() else ():
        check_file(file, force=force, inputs=inputs)


def check_scenario(scenario: _engine.Scenario, path: str | os.PathLike[str]) -> None:
    """Fails if a scenario cannot be logged to a path, before it runs.

    Raises
    ------
    InputError
        If captures at selected places are configured, or several flows have only one file.
    """
    written = json.loads(scenario.json())
    _check_places(written)
    selected, flows = written["record"]["pcap"].get("flows") or (), scenario.counts()[1]
    if Path(path).suffix == FILE_SUFFIX and len(selected) != 1 and flows > 1:
        raise InputError(_ONE_FILE.format(path=printable(path), flows=f"{flows:,} flows"))


def _check_places(scenario: Mapping[str, Any]) -> None:
    places = ((scenario.get("record") or {}).get("pcap") or {}).get("at")
    if places:
        raise InputError(
            f"record.pcap.at: {printable(', '.join(map(str, places)))}: qlog needs captures of both endpoints of "
            "every flow; leave the places out"
        )


def write(
    records: Records, path: str | os.PathLike[str], *, flows: Iterable[str] | None = None, force: bool = False
) -> list[Path]:
    """Writes the logs of the TCP and QUIC flows of a run.

    Parameters
    ----------
    records
        A run with captures of both endpoints of its flows, with comments.
    path
        A directory for two files per flow: `NAME.sqlog` of its sender, and `NAME-receiver.sqlog`. Or a file with the
        suffix `.sqlog` for the sender of the only flow.
    flows
        Names of the flows. Defaults to all that were captured.
    force
        Replace files that lightlag did not write.

    Raises
    ------
    InputError
        If the captures are missing, a flow does not exist, or several flows have only one file.
    """
    path = Path(path)
    check(path, force=force)
    found = _selected(records, flows)
    if path.suffix == FILE_SUFFIX:
        if len(found) != 1:
            raise InputError(
                _ONE_FILE.format(path=printable(path), flows=f"{len(found):,} captured flows of TCP or QUIC")
            )
        with new_file(path) as partial, tempfile.TemporaryDirectory(prefix=".lightlag-qlog-", dir=path.parent) as work:
            made = _write(records, found, Path(work))
            sender = made.get(found[0].name)
            if sender is None:
                raise InputError(f"{printable(path)}: the flow {printable(found[0].name)} sent no packet")
            sender.replace(partial)
        return [path]
    path.mkdir(parents=True, exist_ok=True)
    written = []
    with tempfile.TemporaryDirectory(prefix=".lightlag-qlog-", dir=path) as work:
        _write(records, found, Path(work))
        for file in sorted(Path(work).iterdir()):
            check_file(path / file.name, force=force)
            written.append(file.replace(path / file.name))
    return written


def _write(records: Records, flows: list[_Flow], work: Path) -> dict[str, Path]:
    """Writes the logs into an empty directory. Returns the existing files of the senders, by the names of the flows."""
    captures = [capture for each in records.captures.values() if (capture := CaptureFile(each)).is_ip]
    nodes = {capture.node: capture for capture in captures}
    for node in (node for flow in flows for node in flow.nodes):
        if node not in nodes:
            raise InputError(f"{_NO_CAPTURES}; there is none of {printable(node)}")
    addresses = {name: address for capture in captures for name, address in capture.addresses.items()}
    sequences, names = Sequences(), _Names()
    about = f"{MADE_BY} {records.version}, seed {records.seed}"
    ends: dict[tuple[Address, Address], _End] = {}
    senders: dict[str, _End] = {}
    for flow in flows:
        both = _ends(flow, f"{records.name}: {flow.name}", about, sequences, work / names.free(flow.name))
        source, destination = _addresses(flow, addresses)
        ends |= {(source, destination): both[0], (destination, source): both[1]}
        senders[flow.name] = both[0]
    _copy(records, {flow.index: senders[flow.name].file for flow in flows}, sequences)
    streams: list[Iterator[tuple[int, Any]]] = [
        _packets(capture, addresses[capture.node]) for capture in captures if capture.node in addresses
    ]
    streams.append(_samples(records, senders))
    for time_ns, group in itertools.groupby(heapq.merge(*streams, key=_time), _time):
        _log(time_ns, [item for _, item in group], ends)
    sequences.flush()
    return {name: end.file for name, end in senders.items() if end.file.exists()}


def _copy(records: Records, files: Mapping[int, Path], sequences: Sequences) -> None:
    """Copies the logs of QUIC flows; `files` holds the sender's file of each flow, by its index."""
    logs = records.source.logs()
    if logs is not None:
        senders = {quic.number(flow, is_receiver=False): file for flow, file in files.items()}
        receivers = {quic.number(flow, is_receiver=True): _of_receiver(file) for flow, file in files.items()}
        quic.copy(logs, senders | receivers, sequences)


def _of_receiver(sender: Path) -> Path:
    """Returns the file of the receiver next to the one of the sender."""
    return sender.with_name(sender.name.removesuffix(FILE_SUFFIX) + _RECEIVER + FILE_SUFFIX)


def _time(item: tuple[int, Any]) -> int:
    return item[0]


def _log(time_ns: int, items: list[_Packet | _Sample], ends: Mapping[tuple[Address, Address], _End]) -> None:
    """Logs everything that happens at one time."""
    touched: dict[int, Vantage] = {}
    numbered: list[tuple[_End, _Packet, int | None]] = []
    for item in items:
        if isinstance(item, _Sample):
            touched[id(item.vantage)] = item.vantage
            item.vantage.sample(item.rtt_ms, item.pacing_bps)
            continue
        segment = item.segment
        here = (segment.source, segment.destination) if item.is_sent else (segment.destination, segment.source)
        if (end := ends.get(here)) is not None:
            # Without delay, a packet arrives when it is sent: every packet gets its number first.
            numbered.append((end, item, end.outgoing.sent(time_ns, segment) if item.is_sent else None))
            touched[id(end.vantage)] = end.vantage
    for end, packet, number in numbered:
        state = state_of(packet.comment)
        if packet.is_sent:
            assert number is not None, "a packet that is sent has a number"
            end.vantage.sent(time_ns, number, packet.segment, state)
        else:
            end.vantage.received(time_ns, end.incoming.arrived(time_ns, packet.segment), packet.segment, state)
    for vantage in touched.values():
        vantage.settle(time_ns)


def _packets(capture: CaptureFile, address: bytes) -> Iterator[tuple[int, _Packet]]:
    """Yields the segments that the node of a capture sends and receives itself, with their times."""
    for packet in capture.packets():
        segment = segment_of(packet.data)
        if segment is not None and (segment.source if packet.is_sent else segment.destination)[0] == address:
            yield packet.time_ns, _Packet(segment, packet.is_sent, packet.comment)


def _samples(records: Records, senders: Mapping[str, _End]) -> Iterator[tuple[int, _Sample]]:
    """Yields the rows of the trace about the senders of flows, with their times."""
    import polars as pl

    if records.scenario.get("record", {}).get("trace") == "off":
        return
    trace = records.trace()
    if "leg" in trace.columns:
        trace = trace.filter(pl.col("leg") == 1)
    pacing = pl.col("pacing_rate_bps") if "pacing_rate_bps" in trace.columns else pl.lit(None).alias("pacing_rate_bps")
    rows = trace.select("time_s", pl.col("flow").cast(pl.String), "rtt_s", pacing)
    for time_s, flow, rtt_s, pacing_bps in rows.iter_rows():
        if (end := senders.get(flow)) is not None:
            rtt_ms = None if rtt_s is None else round(rtt_s * 1e3, 6)
            yield round(time_s * 1e9), _Sample(end.vantage, rtt_ms, pacing_bps)


def _selected(records: Records, flows: Iterable[str] | None) -> list[_Flow]:
    """Returns the captured flows of TCP and QUIC with these names."""
    pcap = records.scenario.get("record", {}).get("pcap")
    if not pcap or not pcap.get("comments"):
        raise InputError(_NO_CAPTURES)
    _check_places(records.scenario)
    captured = set(pcap.get("flows") or ())
    unlogged = _of_quic(records.scenario) if records.source.logs() is None else frozenset()
    split = {leg["flow"] for leg in records.parts.get("legs", [])}
    without_sack = _without_sack(records.scenario)
    rows = enumerate(records.flows.select("name", "from", "to", "congestion").iter_rows())
    found = {
        name: _Flow(index, name, (start, end), name in split, name not in without_sack)
        for index, (name, start, end, congestion) in rows
        if congestion != _UDP and (not captured or name in captured)
    }
    if flows is None:
        if not found:
            raise InputError("the run has no flow of TCP or QUIC that was captured")
        names = list(found)
    else:
        names = [flows] if isinstance(flows, str) else list(flows)
    for name in names:
        if name not in found:
            known = ", ".join(map(printable, itertools.islice(found, 10)))
            raise InputError(f'"{printable(name)}" is not a captured flow of TCP or QUIC; there are {known or "none"}')
        if name in unlogged:
            raise InputError(f"the run has no log of the QUIC flow {printable(name)}; run it again with --qlog")
    return [found[name] for name in names]


def _of_quic(scenario: Mapping[str, Any]) -> frozenset[str]:
    """Returns the names of the listed flows of QUIC."""
    default = (scenario.get("defaults") or {}).get("transport")
    flows = (flow for flow in scenario.get("flows", ()) if flow.get("transport", default) == "quic")
    return frozenset(flow.get("name", f"{flow.get('from')}->{flow.get('to')}") for flow in flows)


def _without_sack(scenario: Mapping[str, Any]) -> set[str]:
    """Returns the names of the flows whose configured recovery ignores SACK."""
    default = (scenario.get("defaults") or {}).get("tcp") or {}
    found = set()
    for flow in scenario.get("flows", ()):
        tcp = default | (flow.get("tcp") or {})
        if tcp.get("recovery") in _WITHOUT_SACK:
            found.add(flow.get("name", f"{flow.get('from')}->{flow.get('to')}"))
    return found


def _ends(flow: _Flow, title: str, about: str, sequences: Sequences, stem: Path) -> tuple[_End, _End]:
    """Returns the two endpoints of a flow, the sender first."""
    file = stem.with_name(stem.name + FILE_SUFFIX)
    files = (file, _of_receiver(file))
    sender, receiver = (
        Vantage(Sequence(sequences, file), title, about, node, uses_sack=flow.uses_sack)
        for file, node in zip(files, flow.nodes, strict=True)
    )
    data, acks = Passage(is_observed=True), Passage(is_observed=True)
    # A proxy splits a flow into connections: what arrives was sent by the proxy.
    from_sender = Passage(is_observed=False) if flow.is_split else data
    from_receiver = Passage(is_observed=False) if flow.is_split else acks
    return _End(sender, data, from_receiver, files[0]), _End(receiver, acks, from_sender, files[1])


def _addresses(flow: _Flow, addresses: Mapping[str, bytes]) -> tuple[Address, Address]:
    """Returns addresses and ports of the sender and the receiver of a flow, as captures have them."""
    round_of, port = divmod(flow.index, len(_SENDER_PORTS))
    start, end = flow.nodes
    receiver = _DISCARD if round_of == 0 else _MORE_RECEIVERS + round_of
    return (addresses[start], _SENDER_PORTS[port]), (addresses[end], receiver)


class _Names:
    """Names of files that are valid on every file system, and differ also where case is ignored."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def free(self, name: str) -> str:
        """Returns the name of a flow as the name of a file, without suffix."""
        letters = (letter if letter.isalnum() or letter in "-_.@" else "_" for letter in name.replace("->", "-to-"))
        stem = "".join(letters)
        stem = f"_{stem}" if stem.startswith(".") else stem
        names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
        return next(each for each in names if self._take(each))

    def _take(self, stem: str) -> bool:
        both = {stem.lower(), f"{stem}{_RECEIVER}".lower()}
        if both & self._taken:
            return False
        self._taken |= both
        return True
