"""A builder of scenarios for scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Signature, signature
from typing import Any, Concatenate, Literal, ParamSpec

from lightlag.scenario.document import Scenario
from lightlag.scenario.flows import Crash, Defaults, Flow, Proxy, Reads, Tunnel
from lightlag.scenario.links import Link, LinkParameters
from lightlag.scenario.quic import QuicLike
from lightlag.scenario.radio import Medium, Node
from lightlag.scenario.record import Record
from lightlag.scenario.sky import Constellation, Station
from lightlag.scenario.tcp import TcpLike
from lightlag.scenario.topology import Topology
from lightlag.scenario.units import check_units
from lightlag.scenario.values import (
    Congestion,
    Dscp,
    Routing,
    Setup,
    Size,
    Start,
    Time,
    Traffic,
)
from lightlag.text.terminal import printable

_Keys = ParamSpec("_Keys")


def _with_keys_of(
    model: Callable[_Keys, object],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Network, str, str, _Keys], None]]:
    """Declares, for readers, editors and type checkers, that the keywords of a method are the parameters of a class."""

    def declared(method: Callable[..., None]) -> Callable[Concatenate[Network, str, str, _Keys], None]:
        *own, _ = signature(method).parameters.values()
        method.__signature__ = Signature([*own, *signature(model).parameters.values()])  # type: ignore[attr-defined]
        return method

    return declared


@dataclass
class Network:
    """A scenario that a script builds step by step.

    Parameters
    ----------
    name
        Name of the scenario, also of its results directory.
    tcp
        TCP settings at both endpoints of all flows that do not set their own.
    record
        What the run records.
    links, flows, proxies, media, nodes, stations
        Initial lists; the methods :meth:`link`, :meth:`flow` and :meth:`proxy` add to the first three.
    constellation
        The satellites that the stations use.
    topology
        A generated network, in addition to or instead of added links: :class:`PointToPoint`, :class:`Chain`,
        :class:`Dumbbell`, :class:`Star`, :class:`Satellite`, :class:`Iot` or :class:`Swarm`, or a mapping of the same
        keys with ``kind``.
    congestion
        Congestion controls that are assigned in turn to the flows that name none.
    transport
        Transport of the flows that name none.
    quic
        QUIC settings of all flows with ``transport="quic"``.
    ip
        The version of IP, ``"v4"`` or ``"v6"``.
    routing
        ``"static"`` or ``"follow links"``; see :class:`Scenario`.

    Examples
    --------
    >>> net = Network("geo", tcp={"profile": "linux"})
    >>> net.link("client", "gateway", rate="1 Gbit/s", delay="1 ms")
    >>> net.link("gateway", "server", rate="10 Mbit/s", delay="300 ms", queue="1 bdp", loss=1e-4)
    >>> net.flow("client", "server", transfer="20 MB", congestion="hybla")
    >>> net.scenario("120 s", seed=1).links[1].delay
    '300 ms'

    >>> from lightlag.scenario import Dumbbell
    >>> shared = Network(topology=Dumbbell(pairs=4, rate="10 Mbit/s", delay="50 ms"), congestion=("cubic", "bbr"))
    >>> shared.scenario("60 s").check()
    []
    """

    name: str = "scenario"
    tcp: TcpLike | None = None
    record: Record | None = None
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    proxies: list[Proxy] = field(default_factory=list)
    tunnels: list[Tunnel] = field(default_factory=list)
    media: list[Medium] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    constellation: Constellation | None = None
    stations: list[Station] = field(default_factory=list)
    topology: Topology | None = field(default=None, kw_only=True)
    congestion: Sequence[Congestion] | None = field(default=None, kw_only=True)
    transport: Literal["tcp", "quic"] | None = field(default=None, kw_only=True)
    quic: QuicLike | None = field(default=None, kw_only=True)
    ip: Literal["v4", "v6"] | None = field(default=None, kw_only=True)
    routing: Routing | None = field(default=None, kw_only=True)

    @_with_keys_of(LinkParameters)
    def link(self, first: str, second: str, **keys: Any) -> None:
        """Joins two nodes by a full-duplex link; :class:`LinkParameters` describes the parameters.

        Raises
        ------
        InputError
            If a quantity is a number without a unit.
        """
        check_units(f"link {printable(first)} - {printable(second)}", **keys)
        self.links.append(Link(between=(first, second), **keys))

    def flow(
        self,
        source: str,
        destination: str,
        *,
        name: str | None = None,
        transport: Literal["tcp", "quic", "udp"] | None = None,
        traffic: Traffic | None = None,
        transfer: Size | None = None,
        start: Start | None = None,
        reader: Mapping[str, Any] | None = None,
        dscp: Dscp | None = None,
        setup: Setup | None = None,
        congestion: Congestion | None = None,
        tcp: TcpLike | None = None,
        client: TcpLike | None = None,
        server: TcpLike | None = None,
        quic: QuicLike | None = None,
    ) -> None:
        """Adds a flow; see :class:`Flow` for the parameters.

        Raises
        ------
        InputError
            If a quantity is a number without a unit.
        """
        check_units(f"flow {printable(source)} -> {printable(destination)}", transfer=transfer, start=start)
        flow = Flow(
            from_=source,
            to=destination,
            name=name,
            transport=transport,
            traffic=traffic,
            transfer=transfer,
            start=start,
            reader=reader,
            dscp=dscp,
            setup=setup,
            congestion=congestion,
            tcp=tcp,
            client=client,
            server=server,
            quic=quic,
        )
        self.flows.append(flow)

    def proxy(
        self,
        node: str,
        *,
        kind: Literal["split", "quic"] | None = None,
        buffer: Size,
        reads: Reads | Mapping[str, Any] | None = None,
        flows: Sequence[str] | None = None,
        client: TcpLike | None = None,
        server: TcpLike | None = None,
        quic: QuicLike | None = None,
        opens: Literal["on-syn", "when-established"] | None = None,
        pool: bool | None = None,
        prefetch: bool | None = None,
        crash: Crash | None = None,
    ) -> None:
        """Adds a proxy that splits the connections that cross a node; see :class:`Proxy` for the parameters.

        Raises
        ------
        InputError
            If the buffer is a number without a unit.
        """
        check_units(f"proxy {printable(node)}", buffer=buffer)
        named = None if flows is None else tuple(flows)
        proxy = Proxy(
            node=node,
            kind=kind,
            buffer=buffer,
            reads=reads,
            flows=named,
            client=client,
            server=server,
            quic=quic,
            opens=opens,
            pool=pool,
            prefetch=prefetch,
            crash=crash,
        )
        self.proxies.append(proxy)

    def tunnel(
        self,
        client: str,
        server: str,
        *,
        payload: Literal["ip", "udp"] | None = None,
        flows: Sequence[str] | None = None,
        queue: str | None = None,
        start: Time | None = None,
        quic: QuicLike | None = None,
    ) -> None:
        """Adds a tunnel between two nodes, whose client opens its connection; see :class:`Tunnel` for the parameters.

        Examples
        --------
        >>> net = Network("masque")
        >>> net.link("terminal", "gateway", rate="10 Mbit/s", delay="300 ms")
        >>> net.flow("gateway", "terminal", transport="quic", transfer="1 MB")
        >>> net.tunnel("terminal", "gateway", queue="100 packets")
        >>> net.scenario("60 s").check()
        []
        """
        named = None if flows is None else tuple(flows)
        self.tunnels.append(
            Tunnel(between=(client, server), payload=payload, flows=named, queue=queue, start=start, quic=quic)
        )

    def scenario(self, duration: Time = "300 s", seed: int | None = None) -> Scenario:
        """Returns the scenario of everything added so far."""
        says_nothing = (self.transport, self.tcp, self.quic, self.congestion) == (None,) * 4
        return Scenario(
            name=self.name,
            duration=duration,
            seed=seed,
            ip=self.ip,
            routing=self.routing,
            defaults=None
            if says_nothing
            else Defaults(transport=self.transport, tcp=self.tcp, quic=self.quic, congestion=self.congestion),
            topology=self.topology,
            media=tuple(self.media),
            nodes=tuple(self.nodes),
            constellation=self.constellation,
            stations=tuple(self.stations),
            links=tuple(self.links),
            flows=tuple(self.flows),
            proxies=tuple(self.proxies),
            tunnels=tuple(self.tunnels),
            record=self.record,
        )

    def __repr__(self) -> str:
        from lightlag.text import overview

        return overview.line(self)

    def _repr_html_(self) -> str:
        from lightlag.text import overview

        return overview.page(self)
