"""Custom routers."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
VECTOR = {"python": f"{PROJECT}/examples/custom/distance_vector.py:DistanceVector", "least_snr_db": 10.0}


class Shortest(ll.Router):
    """Works like `oracle`: the shortest path by hops on the true graph, recomputed after each epoch."""

    epoch_ms: int = 100

    def on_start(self, moment: Any) -> None:
        self.ways: dict[int, int] = {}
        self.asked: int | None = None

    def next_hop(self, packet: Any) -> int | None:
        if self.asked is None or packet.now_ns - self.asked >= self.epoch_ms * 1_000_000:
            self.ways, self.asked = self.search(), packet.now_ns
        return self.ways.get(packet.destination)

    def search(self) -> dict[int, int]:
        first = {node: node for node in self.neighbours()}
        waiting = deque(first)
        while waiting:
            node = waiting.popleft()
            for other in self.neighbours(node):
                if other != self.node and other not in first:
                    first[other] = first[node]
                    waiting.append(other)
        return first


def air(routing: Any, *places: tuple[float, float], **medium: Any) -> ll.Network:
    """Returns nodes at these coordinates in metres, with a radio range of 60 m."""
    net = ll.Network("air")
    net.media += [ll.Medium(detection="-101 dBm", rate="24 Mbit/s", routing=routing, **medium)]
    net.nodes += [ll.Node(name=f"n{at}", at=(f"{x} m", f"{y} m", "0 m")) for at, (x, y) in enumerate(places)]
    return net


def chain(routing: Any, count: int = 5, **medium: Any) -> ll.Network:
    net = air(routing, *[(40.0 * number, 0.0) for number in range(count)], **medium)
    net.flow("n0", f"n{count - 1}", start="3 s", transfer="200 kB")
    return net


SWARM = {
    "topology.nodes": 12,
    "topology.flows": 4,
}


def test_a_reimplemented_protocol_of_the_engine_carries_the_same() -> None:
    def run(routing: Any) -> ll.Result:
        return ll.run("swarm", sets=SWARM | {"topology.medium.routing": routing}, duration="20 s")

    ll.register(Shortest)
    ours, theirs = run({"protocol": "shortest"}), run({"protocol": "oracle"})
    assert ours.flows.equals(theirs.flows)
    assert sum(ours.flows["delivered_bytes"]) > 100_000
    assert ours.flows.equals(run("shortest").flows)


def test_the_example_finds_its_routes_and_reports_its_cost() -> None:
    result = ll.run(chain(VECTOR), duration="20 s")
    flow = result.flows.row(0, named=True)
    assert flow["finish_s"] is not None
    assert flow["delivered_bytes"] == 200_000
    radios = result.interfaces
    assert all(4 <= packets <= 8 for packets in radios["routing_packets"])
    assert all(changes >= 1 for changes in radios["route_changes"].to_list())
    # Datagrams of up to 5 entries of 3 B after headers of 28 B.
    assert all(31 <= size / packets <= 43 for size, packets in radios.select("routing_bytes", "routing_packets").rows())


def test_the_example_goes_around_a_node_that_leaves() -> None:
    net = air(VECTOR, (0.0, 0.0), (40.0, -20.0), (80.0, 0.0))
    leaves = {"model": "waypoints", "times": [[0, 40, 0, 0], [10, 40, 0, 0], [12, 40, 900, 0]]}
    net.nodes += [ll.Node(name="upper", mobility=leaves)]
    net.flow("n0", "n2", start="3 s", traffic={"kind": "constant", "rate": "100 kbit/s"}, transport="udp")
    result = ll.run(net, duration="30 s")
    assert result.flows["delivered_bytes"][0] > 0.8 * 27 * 12_500


def test_messages_cross_the_air_and_are_captured(tmp_path: Path) -> None:
    net = chain(VECTOR, 2)
    net.record = ll.Record(pcap=ll.Pcap(at=("n0@air",)))
    ll.run(net, duration="5 s").save(tmp_path / "result")
    (capture,) = (tmp_path / "result").glob("**/*.pcapng")
    data = capture.read_bytes()
    assert data.count((1021).to_bytes(2, "big") * 2) >= 6


def test_records_name_the_nodes_and_the_data() -> None:
    seen: dict[str, list[Any]] = {"hop": [], "message": [], "broken": [], "position": []}

    class Looks(ll.Router):
        def on_start(self, moment: Any) -> None:
            self.wake_ns = moment.now_ns + 1_000_000 * (1 + self.node)
            seen["position"].append(self.position())

        def on_timer(self, moment: Any) -> None:
            self.send(bytes([self.node]))
            if self.node > 0:
                self.send(b"to one", to=self.node - 1)

        def on_message(self, message: Any) -> None:
            seen["message"].append((self.node, message.sender, message.to_all, message.data, message.snr_db > 5))

        def next_hop(self, packet: Any) -> int | None:
            seen["hop"].append((self.node, packet.origin, packet.destination, packet.came_from, packet.ttl > 0))
            step = 1 if packet.destination > self.node else -1
            return self.node + step

        def on_broken(self, broken: Any) -> int | None:
            seen["broken"].append((self.node, broken.neighbour, broken.origin, broken.destination))
            return None

    net = chain(Looks, 3)
    net.flow("n2", "n0", transport="udp", traffic={"kind": "constant", "rate": "50 kbit/s"})
    ll.run(net, duration="6 s")
    assert seen["position"] == [(0.0, 0.0, 0.0), (40.0, 0.0, 0.0), (80.0, 0.0, 0.0)]
    assert (1, 0, True, b"\x00", True) in seen["message"]
    assert (1, 2, False, b"to one", True) in seen["message"]
    assert {(0, 0, 2, -1, True), (1, 0, 2, 0, True), (1, 2, 0, 2, True)} <= set(seen["hop"])
    assert not any(sender == receiver for receiver, sender, *_ in seen["message"])


def test_a_break_drops_keeps_or_reroutes() -> None:
    breaks: list[Any] = []

    class Far(ll.Router):
        answer: int = 0

        def on_start(self, moment: Any) -> None:
            self.failed = False

        def next_hop(self, packet: Any) -> int:
            # The first try goes past the neighbour, out of range.
            return self.node + (2 if self.node == 0 and not self.failed else 1)

        def on_broken(self, broken: Any) -> int | None:
            breaks.append((broken.neighbour, broken.destination))
            self.failed = True
            return [None, ll.HOLD, ll.REROUTE][self.answer]

    delivered = {}
    for answer in range(3):
        net = air(Far(answer=answer), (0.0, 0.0), (40.0, 0.0), (400.0, 0.0))
        burst = {"kind": "periodic", "size": "500 B", "every": "1 s", "count": 3}
        net.flow("n0", "n1", transport="udp", traffic=burst)
        delivered[answer] = ll.run(net, duration="8 s").flows["delivered_bytes"][0]
    assert breaks == [(2, 1)] * 3
    assert delivered == {0: 1000, 1: 1000, 2: 1500}


def test_same_seed_same_result_and_the_digest_is_kept() -> None:
    one = ll.run(chain(VECTOR), duration="6 s", verify=True)
    assert one.result_hash == ll.run(chain(VECTOR), duration="6 s").result_hash
    assert one.result_hash != ll.run(chain(VECTOR), duration="6 s", seed=2).result_hash
    table = one.summary["scenario"]["media"][0]["routing"]
    assert len(table["code"]) == 32
    with pytest.raises(ll.ScenarioError, match="the code of distancevector was 0000 and is now"):
        ll.run(chain(table | {"code": "0000"}), duration="6 s")


class Bad(ll.Router):
    """Fails in the way that its parameter selects."""

    how: int = 0

    def on_start(self, moment: Any) -> None:
        if self.how == 5:
            self.wake_ns = moment.now_ns
        if self.how == 6:
            self.send(bytes(2000))
        if self.how == 9:
            self.neighbours(99)

    def next_hop(self, packet: Any) -> Any:
        if self.how == 7:
            self.release(packet.destination)
        return [self.node, 99, -7, "there", 1 // (self.how - 4) if self.how == 4 else None][min(self.how, 4)]

    def on_broken(self, broken: Any) -> Any:
        return None


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (0, "returned 0 for a packet from 0 to 4, which is the node itself"),
        (1, "returned 99 for a packet from 0 to 4, which is not another node of the medium"),
        (2, "returned -7; return the ID of a neighbour, None or ll.HOLD"),
        (3, "returned 'there'; return the ID of a neighbour, None or ll.HOLD"),
        (4, "ZeroDivisionError"),
        (5, "wake_ns = 0 is not after now, 0; -1 for no timer"),
        (6, "a message of 2000 B is longer than 1472 B"),
        (7, "release cannot be called in next_hop"),
        (9, "99 is not a node of the medium"),
    ],
)
def test_a_failure_ends_the_run_and_names_router_and_time(how: int, reason: str) -> None:
    with pytest.raises(AlgorithmError, match=reason) as failed:
        ll.run(chain(Bad(how=how)), duration="6 s")
    told = str(failed.value)
    assert told.startswith("router n0@air, at ")
    assert "bad: " in told
    assert failed.value.result is not None


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ({"protocol": "aodw"}, "aodv"),
        ({"python": "nowhere.py:Mine"}, "nowhere.py"),
        ({"plugin": "libmine.so"}, "a router must be a Python class, not a library"),
        (VECTOR | {"protocol": "aodv"}, "protocol and python both name a router; remove one"),
        (VECTOR | {"period_ms": 0.0}, "period_ms: 0 is not a number from 1 to 60000"),
        ({"python": f"{PROJECT}/examples/custom/video.py:Video"}, "video is a traffic source, not a router"),
    ],
)
def test_a_bad_router_is_one_clear_error(routing: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.ScenarioError, match=message):
        ll.run(chain(routing), duration="6 s")


def test_bad_classes_are_rejected() -> None:
    class Nothing(ll.Router):
        pass

    @ll.compiled
    class Compiled(ll.Router):
        def next_hop(self, packet: Any) -> None: ...

    class Aodv(ll.Router):
        def next_hop(self, packet: Any) -> None: ...

    for cls, message in [
        (Nothing, r"Nothing: has no method next_hop\(self, packet\)"),
        (Compiled, "Compiled: a router requests messages and positions; remove @compiled"),
        (Aodv, "is the name of a routing protocol of lightlag"),
    ]:
        with pytest.raises(InputError, match=message):
            ll.register(cls)
    with pytest.raises(ll.ScenarioError, match='needs routing = "aodv": shortest'):
        ll.run(chain(Shortest, elfn=True), duration="6 s")
