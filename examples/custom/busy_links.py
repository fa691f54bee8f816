"""Paths through a constellation that avoid busy links.

    lightlag run starlink-550 --set constellation.routing.python=busy_links.py:BusyLinks

At each update, Dijkstra's algorithm finds the shortest paths from the station. The busier a link was, the longer it
counts.
"""

import heapq
import math

import lightlag as ll


class BusyLinks(ll.SatelliteRouter):
    """Shortest paths, where a busy link counts as longer."""

    penalty: float = ll.parameter(0.0, min=0.0, max=100.0, meaning="Lengths by which a busy link counts as longer.")

    def next_hops(self, sky):
        lengths = sky.lengths * (1.0 + self.penalty * sky.loads)
        neighbours = [[] for _ in sky.positions]
        for (one, other), length in zip(sky.links.tolist(), lengths.tolist(), strict=True):
            if length < math.inf:
                neighbours[one].append((other, length))
                neighbours[other].append((one, length))
        distances = [math.inf] * len(neighbours)
        following = [ll.UNREACHABLE] * len(neighbours)
        waiting = []
        for satellite, length in zip(sky.entries.tolist(), sky.entry_lengths.tolist(), strict=True):
            distances[satellite], following[satellite] = length, ll.GROUND
            waiting.append((length, satellite))
        heapq.heapify(waiting)
        while waiting:
            distance, satellite = heapq.heappop(waiting)
            if distance > distances[satellite]:
                continue
            for other, length in neighbours[satellite]:
                if distance + length < distances[other]:
                    distances[other], following[other] = distance + length, satellite
                    heapq.heappush(waiting, (distance + length, other))
        return following
