"""A distance-vector protocol, a small version of RIP (RFC 2453), for the nodes of a swarm.

    lightlag run swarm --set 'topology.medium.routing={ python = "distance_vector.py:DistanceVector" }'

Once per period, each node sends its neighbours its hop count to every destination in its table. It learns routes from the
messages it receives, deletes routes that are not refreshed, and holds packets until there is a route.
"""

import struct

import lightlag as ll

ENTRY = struct.Struct("!HB")
"""Format of an entry in a message: a destination, and the number of hops to it."""


class DistanceVector(ll.Router):
    """Uses the route with the fewest hops that a neighbour has advertised."""

    period_ms: float = ll.parameter(1000.0, min=1.0, max=60000.0, unit="ms", meaning="Between two messages.")
    lifetime_ms: float = ll.parameter(3500.0, min=1.0, max=600000.0, unit="ms", meaning="Lifetime of a route.")
    least_snr_db: float = ll.parameter(0.0, min=-20.0, max=100.0, unit="dB", meaning="Weaker messages do not count.")
    most_hops: int = ll.parameter(15, min=1, max=254, meaning="Longer routes are unusable.")

    def on_start(self, moment):
        self.ways = {}
        """Routes by destination: number of hops, the neighbour, and the time of its message."""
        # Nodes that transmit at the same time are not received.
        self.wake_ns = moment.now_ns + 1 + int(ll.uniform(self) * self.period_ms * 1e6)

    def on_timer(self, moment):
        self.forget(moment.now_ns)
        known = [(self.node, 0)] + [(node, hops) for node, (hops, _, _) in sorted(self.ways.items())]
        self.send(b"".join(ENTRY.pack(node, hops) for node, hops in known))
        self.wake_ns = moment.now_ns + int((0.75 + 0.5 * ll.uniform(self)) * self.period_ms * 1e6)

    def on_message(self, message):
        self.forget(message.now_ns)
        if message.snr_db < self.least_snr_db:
            # Broadcasts reach farther than data at a higher rate.
            return
        for node, told in ENTRY.iter_unpack(message.data):
            hops, neighbour, _ = self.ways.get(node, (self.most_hops + 1, None, 0))
            if node == self.node:
                continue
            if told < hops - 1 or (neighbour == message.sender and told < self.most_hops):
                self.ways[node] = (told + 1, message.sender, message.now_ns)
                self.release(node)
            elif neighbour == message.sender:
                # It has no route any more.
                del self.ways[node]

    def next_hop(self, packet):
        self.forget(packet.now_ns)
        _, neighbour, _ = self.ways.get(packet.destination, (0, None, 0))
        return ll.HOLD if neighbour is None else neighbour

    def on_broken(self, broken):
        self.ways = {node: way for node, way in self.ways.items() if way[1] != broken.neighbour}
        return ll.HOLD

    def forget(self, now_ns):
        lifetime = self.lifetime_ms * 1e6
        self.ways = {node: way for node, way in self.ways.items() if now_ns - way[2] <= lifetime}
