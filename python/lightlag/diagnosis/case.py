"""A scenario as plain values, and the flow whose causes are measured: where its options and its path are."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Case", "PathLink"]


@dataclass(frozen=True, slots=True)
class PathLink:
    """A link on the path of the flow's data."""

    values: dict[str, Any]
    """Keys of the link, which may be changed."""
    data: str
    """Direction of the data: ``"forward"`` or ``"backward"``."""

    @property
    def acks(self) -> str:
        """Direction of the ACKs."""
        return "backward" if self.data == "forward" else "forward"

    def side(self, key: str, direction: str) -> Any:
        """Returns the value of a key in a direction; None if it is absent."""
        value = self.values.get(key)
        return value.get(direction) if isinstance(value, dict) and _is_split(value) else value

    def set_side(self, key: str, direction: str, value: Any) -> None:
        """Sets the value of a key in one direction."""
        other = "backward" if direction == "forward" else "forward"
        sides = {direction: value, other: self.side(key, other)}
        self.values[key] = {name: one for name, one in sides.items() if one is not None}

    def drop(self, key: str) -> bool:
        """Removes a key; returns False if it was absent."""
        return self.values.pop(key, None) is not None


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario that may be changed, and one of its flows."""

    scenario: dict[str, Any]
    flow: dict[str, Any] | None
    """The flow's own table; None for a flow of a topology."""
    row: dict[str, Any]
    """Result of the flow: a row of :attr:`lightlag.Result.flows`."""

    @classmethod
    def of(cls, scenario: dict[str, Any], row: dict[str, Any]) -> Case:
        """Finds a flow by its row in the results."""
        flows = scenario.get("flows", [])
        named = (flow for flow, name in zip(flows, _names(flows), strict=True) if name == row["name"])
        return cls(scenario, next(named, None), row)

    @property
    def transport(self) -> str:
        """``"tcp"`` or ``"quic"``."""
        own = (self.flow or {}).get("transport")
        template = self.scenario.get("topology", {}).get("flow", {}).get("transport")
        return str(own or template or self.scenario.get("defaults", {}).get("transport", "tcp"))

    def tables(self) -> Iterator[dict[str, Any]]:
        """Returns the tables with options of the flow's transport, the weakest first."""
        for owner in (self.scenario.get("defaults"), self.scenario.get("topology", {}).get("flow"), self.flow):
            for name in (self.transport, "client", "server"):
                table = (owner or {}).get(name)
                if isinstance(table, dict):
                    yield table
                    yield from (one for end in ("client", "server") if isinstance(one := table.get(end), dict))

    def option(self, key: str) -> Any:
        """Returns the value of an option that the scenario sets; None if it sets none."""
        return next((table[key] for table in reversed(list(self.tables())) if key in table), None)

    def drop_option(self, key: str) -> bool:
        """Removes an option from all tables; returns False if it was in none."""
        removed = [table.pop(key, None) is not None for table in self.tables()]
        return any(removed)

    def set_option(self, key: str, value: Any) -> None:
        """Sets an option of both endpoints of the flow."""
        self.drop_option(key)
        owner = self.flow
        if owner is None:
            owner = self.scenario.get("topology", {}).get("flow") or self.scenario.setdefault("defaults", {})
        owner.setdefault(self.transport, {})[key] = value

    def replies(self) -> bool:
        """Returns true if most data goes to the node that opens the connection."""
        return (self.flow or {}).get("traffic", {}).get("kind") in ("requests", "web", "page")

    def path(self) -> list[PathLink]:
        """Returns the links of the forward path of the data; for a topology, all tables that describe its links."""
        topology = self.scenario.get("topology")
        if self.flow is None and isinstance(topology, dict):
            tables = [topology, *(value for value in topology.values() if _is_link(value))]
            return [PathLink(table, "forward") for table in tables]
        links = self._hops(self.row["from"], self.row["to"])
        backward = self.replies()
        flipped = {"forward": "backward", "backward": "forward"}
        return [PathLink(one.values, flipped[one.data]) for one in links] if backward else links

    def _hops(self, start: str, end: str) -> list[PathLink]:
        links = [link for link in self.scenario.get("links", []) if len(link.get("between", ())) == 2]
        came: dict[str, tuple[str, PathLink] | None] = {start: None}
        queue = deque([start])
        while queue and end not in came:
            node = queue.popleft()
            for link in links:
                first, second = link["between"]
                for here, there, data in ((first, second, "forward"), (second, first, "backward")):
                    if here == node and there not in came:
                        came[there] = (node, PathLink(link, data))
                        queue.append(there)
        hops = []
        step = came.get(end)
        while step is not None:
            before, link = step
            hops.append(link)
            step = came[before]
        return hops[::-1]

    def bottleneck(self) -> PathLink | None:
        """Returns the link of the path that is the flow's bottleneck in the results."""
        path = self.path()
        if self.flow is None:
            return next((link for link in path if "rate" in link.values), None)
        names = str(self.row.get("bottleneck", "")).split("->")
        return next((link for link in path if sorted(link.values["between"]) == sorted(names)), None)


def _names(flows: list[dict[str, Any]]) -> list[str]:
    """Returns the names of flows in the results: a later flow without a name between the same nodes is numbered."""
    names: list[str] = []
    counts: Counter[str] = Counter()
    for flow in flows:
        pair = f"{flow.get('from')}->{flow.get('to')}"
        counts[pair] += not flow.get("name")
        names.append(flow.get("name") or (pair if counts[pair] == 1 else f"{pair} #{counts[pair]}"))
    return names


def _is_split(value: dict[str, Any]) -> bool:
    return bool(value) and value.keys() <= {"forward", "backward"}


def _is_link(value: Any) -> bool:
    return isinstance(value, dict) and "rate" in value and "delay" in value
