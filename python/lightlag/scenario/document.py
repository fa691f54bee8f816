"""A complete scenario."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario import parsing, toml
from lightlag.scenario.flows import Defaults, Flow, Proxy, Tunnel
from lightlag.scenario.links import Link
from lightlag.scenario.plain import plain
from lightlag.scenario.radio import Medium, Node
from lightlag.scenario.record import Record
from lightlag.scenario.sky import Constellation, Station
from lightlag.scenario.topology import Topology
from lightlag.scenario.values import Routing, Time


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """An experiment: a network, its flows, and the simulated time.

    Examples
    --------
    >>> scenario = Scenario(
    ...     name="pair",
    ...     duration="10 s",
    ...     links=(Link(between=("a", "b"), rate="1 Mbit/s", delay="10 ms"),),
    ...     flows=(Flow(from_="a", to="b", congestion="cubic"),),
    ... )
    >>> scenario.check()
    []
    """

    name: str
    """Name of the scenario, also used for the results directory."""
    duration: Time
    """Maximum duration of the run. The run ends earlier when every finite flow has finished."""
    seed: int | None = None
    """Seed of all random streams. Default: 1."""
    ip: Literal["v4", "v6"] | None = None
    """Version of IP: v4 (the default) has headers of 20 bytes, v6 of 40 bytes. Captures show addresses of this
    version."""
    routing: Routing | None = None
    """Rule for the computation of routes: once before the run, which is the default, or again whenever a link goes
    down, comes up or changes its delay (follow links)."""
    defaults: Defaults | None = None
    """Defaults of flow settings."""
    topology: Topology | None = None
    """A generated network, in addition to listed links or instead of them."""
    media: tuple[Medium, ...] = ()
    """Radio media."""
    nodes: tuple[Node, ...] = ()
    """Nodes with radios."""
    constellation: Constellation | None = None
    """Satellites, and the rules by which ground stations use them."""
    stations: tuple[Station, ...] = ()
    """Ground stations that use the satellites."""
    links: tuple[Link, ...] = ()
    """Full-duplex links."""
    flows: tuple[Flow, ...] = ()
    """Connections."""
    proxies: tuple[Proxy, ...] = ()
    """Proxies, which split the connections that cross their nodes."""
    tunnels: tuple[Tunnel, ...] = ()
    """Tunnels, which carry packets in DATAGRAM frames of QUIC connections."""
    record: Record | None = None
    """Records of the run."""

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain values, in the shape of a scenario file."""
        return {key: value for key, value in plain(self).items() if value != []}

    def to_toml(self) -> str:
        """The scenario as the text of a scenario file.

        Examples
        --------
        >>> print(Scenario(name="empty", duration="1 s", flows=(Flow(from_="a", to="b"),)).to_toml())
        name = "empty"
        duration = "1 s"
        <BLANKLINE>
        [[flows]]
        from = "a"
        to = "b"
        """
        return toml.document(self.to_dict())

    def check(self) -> list[tuple[str, str]]:
        """Warnings, each a place and its effect on the result.

        Raises
        ------
        ScenarioError
            If the scenario cannot be run.
        """
        return parsing.checked(json.dumps(self.to_dict()), "json")[1]

    def __repr__(self) -> str:
        from lightlag.text import overview

        return overview.line(self)

    def _repr_html_(self) -> str:
        from lightlag.text import overview

        return overview.page(self)
