"""A diagram of a scenario for notebooks: its nodes, its links with their properties, and its flows, as SVG.

Nodes are arranged in columns, by their distance from the sender of the first flow. The nodes that a generator repeats
appear once. The diagram uses the colour of the surrounding text, so that it suits light and dark pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightlag.text.terminal import printable

__all__ = ["Graph", "graph", "picture"]

MOST_NODES = 24
MOST_FLOWS = 6
_LONGEST = 22
"""Maximum number of characters of a name or a value; longer ones are truncated."""
_CHARACTER, _LINE, _ROW, _HEIGHT, _MARGIN = 6.4, 15, 84, 28, 14
"""Sizes in pixels: width of a character, height of a line of text, distance between rows of nodes, node height, margin.
"""


_GROUPS = {"client": "clients", "server": "servers", "leaf": "leaves", "sensor": "sensors", "sink": "sinks"}
_GROUPS |= {"terrestrial": "terrestrial", "terrestrial-server": "terrestrial-servers", "uav": "swarm"}
"""Groups of generated nodes, by the start of their names: client1, client2 and so on are clients."""


@dataclass
class Graph:
    """The parts of a diagram."""

    nodes: dict[str, str] = field(default_factory=dict)
    """Nodes, each with an optional note such as ``× 8`` or ``proxy``."""
    edges: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Links: two nodes, and the lines of text above and below the edge."""
    flows: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of equal flows, by sender, receiver and description."""
    generates: bool = True
    """Whether a generator adds flows that the scenario does not describe; it does so only if the scenario lists none.
    """

    def node(self, name: object, remark: str = "") -> str:
        """Adds a node unless it exists, and returns its name in the diagram: one node stands for its entire group."""
        found = re.fullmatch(r"([a-z-]*[a-z])\d[\d.-]*", str(name))
        group = _GROUPS.get(found[1], "") if found else ""
        known = group if group in self.nodes else str(name)
        self.nodes[known] = ", ".join(filter(None, (self.nodes.get(known, ""), remark)))
        return known

    def edge(self, first: object, second: object, line: Mapping[str, Any] | None = None) -> None:
        """Adds a link with these properties; None stands for unknown properties."""
        self.edges.append((self.node(first), self.node(second), *_labels({} if line is None else line)))

    def flow(self, source: object, destination: object, flow: Mapping[str, Any], count: int = 1) -> None:
        """Adds `count` flows; equal flows are counted together."""
        key = (self.node(source), self.node(destination), _flow(flow))
        self.flows[key] = self.flows.get(key, 0) + count


def graph(scenario: Mapping[str, Any]) -> Graph:
    """Returns the parts of the diagram of a scenario as plain values."""
    found = Graph()
    defaults = scenario.get("defaults") or {}
    topology = scenario.get("topology") or {}
    found.generates = not scenario.get("flows")
    if topology:
        _TOPOLOGIES.get(str(topology.get("kind")), _unknown)(found, topology)
    for station in scenario.get("stations", ()):
        found.edge(station["name"], "satellites")
    for medium in scenario.get("media", ()):
        found.node(medium.get("name", "medium"), "radio medium")
    for node in scenario.get("nodes", ()):
        for medium in _media(node, scenario):
            found.edge(node["name"], medium)
    for link in scenario.get("links", ()):
        first, second = link["between"]
        found.edge(first, second, link)
    for flow in scenario.get("flows", ()):
        found.flow(flow["from"], flow["to"], _with(flow, defaults))
    for proxy in scenario.get("proxies", ()):
        found.node(proxy["node"], "proxy")
    for tunnel in scenario.get("tunnels", ()):
        for node in tunnel["between"]:
            found.node(node, "tunnel")
    return found


def _media(node: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[str]:
    """Returns the names of the media that a node's radios are on."""
    swarm = (scenario.get("topology") or {}).get("medium") or {}
    only = next((medium.get("name", "medium") for medium in scenario.get("media", ())), swarm.get("name", "air"))
    radios = node.get("radios") or node.get("radio") or {}
    listed = radios if isinstance(radios, (list, tuple)) else [radios]
    return [str(radio.get("medium", only)) if isinstance(radio, Mapping) else str(only) for radio in listed]


def _with(flow: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a flow; if it names no congestion control, it gets the one of its ``tcp`` or of ``defaults.tcp``."""
    tcp = defaults.get("tcp")
    own = flow.get("tcp")
    for place in (own, tcp):
        if "congestion" not in flow and isinstance(place, Mapping) and "congestion" in place:
            return dict(flow) | {"congestion": place["congestion"]}
    return dict(flow)


# --- generated networks -----------------------------------------------------------------------------------------------


def _row(found: Graph, names: Sequence[str], lines: Iterable[Mapping[str, Any] | None]) -> None:
    for first, second, line in zip(names, names[1:], lines, strict=False):
        found.edge(first, second, line)


def _pair_flows(found: Graph, topology: Mapping[str, Any], source: str, destination: str, count: object) -> None:
    if not found.generates and topology.get("flow") is None:
        return
    template = topology.get("flow") or {}
    each = template.get("count") or 1
    known = count if isinstance(count, int) and not isinstance(count, bool) else 1
    found.flow(source, destination, template, known * each if isinstance(each, int) else known)


def _point_to_point(found: Graph, topology: Mapping[str, Any]) -> None:
    found.edge("client", "server", topology)
    _pair_flows(found, topology, "client", "server", 1)


def _chain(found: Graph, topology: Mapping[str, Any]) -> None:
    hops = topology.get("hops", 1)
    few = isinstance(hops, int) and hops <= 5
    routers = [f"router{at}" for at in range(1, hops)] if few else ["routers"]
    _row(found, ["client", *routers, "server"], [topology] * (len(routers) + 1))
    if not few:
        found.node("routers", f"{_value(hops)} links in a row")
    _pair_flows(found, topology, "client", "server", 1)


def _dumbbell(found: Graph, topology: Mapping[str, Any]) -> None:
    pairs = topology.get("pairs", 1)
    access = topology.get("access")
    _row(found, ["clients", "router-left", "router-right", "servers"], [access, topology, access])
    found.node("clients", f"× {_value(pairs)}")
    found.node("servers", f"× {_value(pairs)}")
    _pair_flows(found, topology, "clients", "servers", pairs)


def _star(found: Graph, topology: Mapping[str, Any]) -> None:
    found.edge("leaves", "hub", topology)
    found.node("leaves", f"× {_value(topology.get('leaves', 1))}")
    _pair_flows(found, topology, "leaves", "hub", topology.get("leaves", 1))


def _satellite(found: Graph, topology: Mapping[str, Any]) -> None:
    pairs, access = topology.get("pairs", 1), topology.get("access")
    end = "router" if topology.get("bottleneck") else "gateway-right"
    _row(found, ["clients", "gateway-left", "satellite", "gateway-right"], [access, *_hops(topology)])
    if topology.get("bottleneck"):
        found.edge("gateway-right", "router", topology["bottleneck"])
    found.edge(end, "servers", access)
    found.node("clients", f"× {_value(pairs)}")
    found.node("servers", f"× {_value(pairs)}")
    height = topology.get("orbit") or topology.get("height")
    several = topology.get("satellites") or 1
    found.node("satellite", ", ".join([f"× {several}"] * (several != 1) + [str(height)] * bool(height)))
    _pair_flows(found, topology, "clients", "servers", pairs)
    if ground := topology.get("terrestrial"):
        found.edge("terrestrial", "gateway-right", ground)
        found.node("terrestrial", f"× {_value(ground.get('pairs', 1))}")
        found.edge(end, "terrestrial-servers", access)
        template = {"flow": ground.get("flow") or topology.get("flow")}
        _pair_flows(found, template, "terrestrial", "terrestrial-servers", ground.get("pairs", 1))


def _hops(topology: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    return [topology.get("uplink"), topology.get("downlink")]


def _iot(found: Graph, topology: Mapping[str, Any]) -> None:
    parts = [topology.get("radio"), topology.get("access"), topology]
    _row(found, ["sensors", "sinks", "gateway", "server"], parts)
    found.node("sensors", f"× {_value(topology.get('sensors', 1))} for each sink")
    found.node("sinks", f"× {_value(topology.get('sinks', 1))}")
    found.flow("sensors", "sinks", topology.get("sensor") or {"transport": "udp"})
    found.flow("sinks", "server", topology.get("flow") or {})


def _swarm(found: Graph, topology: Mapping[str, Any]) -> None:
    medium = topology.get("medium") or {}
    found.edge("swarm", medium.get("name", "air"))
    found.node("swarm", f"{_value(topology.get('nodes', 1))} nodes")
    found.node(medium.get("name", "air"), "radio medium")
    count = topology.get("flows")
    if count != 0 and (found.generates or count is not None):
        found.flow("swarm", "swarm", topology.get("flow") or {}, count if isinstance(count, int) else 1)


def _unknown(found: Graph, topology: Mapping[str, Any]) -> None:
    found.node(topology.get("kind", "topology"))


_TOPOLOGIES = {
    "point-to-point": _point_to_point,
    "chain": _chain,
    "dumbbell": _dumbbell,
    "star": _star,
    "satellite": _satellite,
    "iot": _iot,
    "swarm": _swarm,
}


# --- texts ------------------------------------------------------------------------------------------------------------


def _labels(line: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the labels of a link: rate and delay above the line, queue and loss below."""
    above = [_value(line[key]) for key in ("rate", "delay") if line.get(key) is not None]
    below = []
    for key in ("queue", "loss"):
        value = line.get(key)
        if value is not None and value not in (0, {}):
            below.append(f"{key} {_value(value)}")
    return " · ".join(above), " · ".join(below)


def _value(value: object) -> str:
    """Returns a value of a scenario in a few characters."""
    if isinstance(value, Mapping):
        if value.keys() & {"forward", "backward"}:
            text = f"{_value(value.get('forward', '–'))} / {_value(value.get('backward', '–'))}"
            return _cut(text, 2 * _LONGEST)
        for key in ("discipline", "algorithm", "kind", "orbit", "height", "mean"):
            if key in value:
                return _value(value[key])
        return _cut(", ".join(f"{key} {_value(one)}" for key, one in value.items()))
    if isinstance(value, (list, tuple)):
        return _cut(", ".join(map(_value, value)))
    return _cut(f"{value:g}" if isinstance(value, float) else str(value))


def _flow(flow: Mapping[str, Any]) -> str:
    traffic = flow.get("traffic")
    parts = [
        "UDP" if flow.get("transport") == "udp" else None,
        _value(flow["congestion"]) if flow.get("congestion") is not None else None,
        _value(flow["transfer"]) if flow.get("transfer") is not None else None,
        _value(traffic) if traffic is not None else None,
    ]
    return ", ".join(part for part in parts if part)


def _cut(text: str, most: int = _LONGEST) -> str:
    text = printable(text)
    return text if len(text) <= most else text[: most - 1] + "…"


# --- drawing ----------------------------------------------------------------------------------------------------------


def picture(scenario: Mapping[str, Any]) -> str:
    """Returns the diagram of a scenario as SVG; empty if it has no nodes, or too many of them."""
    found = graph(scenario)
    if not 0 < len(found.nodes) <= MOST_NODES:
        return ""
    columns = _columns(found)
    places, width, height = _places(found, columns)
    drawn = [_edge(_box(first, places), _box(second, places), *labels) for first, second, *labels in found.edges]
    drawn += [_node(name, remark, places[name]) for name, remark in found.nodes.items()]
    listed = list(found.flows.items())
    for at, ((source, destination, text), count) in enumerate(listed[:MOST_FLOWS]):
        said = (
            f"{_cut(source)} → {_cut(destination)}{f': {text}' if text else ''}{f' (× {count})' if count > 1 else ''}"
        )
        y = height + _LINE * (2 * at + 1.4)
        drawn.append(_arrow(places[source][0], places[destination][0], y, said))
        width = max(width, min(places[source][0], places[destination][0]) + _CHARACTER * len(said) + _MARGIN)
    height += _LINE * 2 * min(len(listed), MOST_FLOWS)
    if len(listed) > MOST_FLOWS:
        height += _LINE
        drawn.append(_text(_MARGIN, height, f"and {sum(count for _, count in listed[MOST_FLOWS:]):,} more flows"))
    height += _MARGIN
    about = ", ".join(f"{_cut(first)} – {_cut(second)}" for first, second, _, _ in found.edges[:MOST_NODES])
    label = _escaped(about or "nodes without links")
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:min(100%,{width:.0f}px);max-height:420px;display:block" xmlns="http://www.w3.org/2000/svg" '
        f'fill="none" stroke="currentColor" font-family="system-ui,sans-serif" font-size="12">{"".join(drawn)}</svg>'
    )


def _columns(found: Graph) -> list[list[str]]:
    """Returns the nodes in columns, by their distance from the first sender.

    Nodes without a path to it start in the first column again.
    """
    beside: dict[str, list[str]] = {name: [] for name in found.nodes}
    for first, second, _, _ in found.edges:
        beside[first].append(second)
        beside[second].append(first)
    starts = [source for source, _, _ in found.flows] + list(found.nodes)
    depth: dict[str, int] = {}
    for start in starts:
        if start in depth:
            continue
        depth[start] = 0
        queue = [start]
        for name in queue:
            for other in beside[name]:
                if other not in depth:
                    depth[other] = depth[name] + 1
                    queue.append(other)
    columns: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, at in depth.items():
        columns[at].append(name)
    return columns


def _places(found: Graph, columns: list[list[str]]) -> tuple[dict[str, tuple[float, float]], float, float]:
    """Returns the centre of each node, and the size of the diagram without its flows."""
    at = {name: index for index, names in enumerate(columns) for name in names}
    wide = [max(_width(name, found.nodes[name]) for name in names) for names in columns]
    gaps = [90.0] * len(columns)
    for first, second, *labels in found.edges:
        left, right = sorted((at[first], at[second]))
        if right - left == 1:
            gaps[left] = max(gaps[left], _CHARACTER * max(map(len, labels)) + 24)
    tallest = max(map(len, columns))
    height = _ROW * tallest + _MARGIN
    places, x = {}, float(_MARGIN)
    for index, names in enumerate(columns):
        for row, name in enumerate(names):
            y = _MARGIN + _ROW * (row + 0.5 + (tallest - len(names)) / 2)
            places[name] = (x + wide[index] / 2, y)
        x += wide[index] + gaps[index]
    return places, x - gaps[-1] + _MARGIN, height


def _width(name: str, remark: str) -> float:
    return max(_CHARACTER * len(_cut(name)), 0.9 * _CHARACTER * len(remark)) + 18


def _node(name: str, remark: str, place: tuple[float, float]) -> str:
    x, y = place
    width = _CHARACTER * len(_cut(name)) + 18
    box = (
        f'<rect x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" height="{_HEIGHT}" rx="6" '
        f'fill="currentColor" fill-opacity="0.12"/>'
    )
    label = _text(x, y + 4, _cut(name), middle=True)
    said = _text(x, y + _HEIGHT / 2 + 12, remark, middle=True, small=True) if remark else ""
    return f"<g><title>{_escaped(printable(name))}</title>{box}{label}{said}</g>"


def _box(name: str, places: Mapping[str, tuple[float, float]]) -> tuple[float, float, float]:
    """Returns the centre of a node and half of its width."""
    return (*places[name], (_CHARACTER * len(_cut(name)) + 18) / 2)


def _border(box: tuple[float, float, float], other: tuple[float, float, float]) -> tuple[float, float]:
    """Returns the point on the edge of a node where the line to another node starts."""
    (x, y, half), dx, dy = box, other[0] - box[0], other[1] - box[1]
    share = min(half / abs(dx) if dx else 1.0, _HEIGHT / 2 / abs(dy) if dy else 1.0, 1.0)
    return x + share * dx, y + share * dy


def _edge(first: tuple[float, float, float], second: tuple[float, float, float], above: str, below: str) -> str:
    (x1, y1), (x2, y2) = _border(first, second), _border(second, first)
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-opacity="0.6"/>'
    labels = [_text(x, y - 5, above, middle=True)] * bool(above) + [_text(x, y + 14, below, middle=True)] * bool(below)
    return line + "".join(labels)


def _arrow(x1: float, x2: float, y: float, text: str) -> str:
    """Returns the arrow of a flow from sender to receiver, with its description above."""
    if x1 == x2:
        return _text(x1, y, text, middle=False)
    tip = 6 if x2 > x1 else -6
    line = f'<line x1="{x1:.1f}" y1="{y + 5:.1f}" x2="{x2:.1f}" y2="{y + 5:.1f}" stroke-dasharray="5 3"/>'
    head = f'<path d="M{x2:.1f} {y + 5:.1f}l{-tip} -4v8z" fill="currentColor"/>'
    return line + head + _text(min(x1, x2) + 4, y, text)


def _text(x: float, y: float, text: str, *, middle: bool = False, small: bool = False) -> str:
    anchor = ' text-anchor="middle"' * middle
    size = ' font-size="11" fill-opacity="0.75"' * small
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" stroke="none"{anchor}{size}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return html.escape(text)
