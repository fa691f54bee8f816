"""Spike distinguishes link errors from congestion losses, with any congestion control.

    lightlag run lossy --set tcp.loss_assumption.python=spike.py:Spike

Cen, Cosman, Voelker, "End-to-end differentiation of congestion and wireless losses", IEEE/ACM Transactions on Networking
11(5), 2003: a connection is in a spike while its one-way time is near the maximum seen rather than the minimum, and a
loss in a spike is due to congestion.

With ``@ll.compiled`` before the class it runs at the speed of machine code.
"""

import lightlag as ll


class Spike(ll.LossResponse):
    """Attributes losses to congestion while the one-way time is high."""

    enter: float = ll.parameter(0.5, min=0.0, max=1.0, meaning="Where a spike starts between the extremes.")
    leave: float = ll.parameter(0.33, min=0.0, max=1.0, meaning="Where it ends.")
    least_spread_ms: float = ll.parameter(5.0, min=0.0, max=1e5, unit="ms", meaning="Closer extremes show no queue.")
    shortest_ns: int = ll.state(-1)
    longest_ns: int = ll.state(-1)
    in_spike: bool = ll.state(False)

    def on_ack(self, ack):
        # Timestamps give the one-way time; without them the round-trip time is used instead.
        time_ns = ack.one_way_ns if ack.one_way_ns >= 0 else ack.rtt_ns
        if ack.rtt_ns == 0:
            return
        if self.shortest_ns < 0 or time_ns < self.shortest_ns:
            self.shortest_ns = time_ns
        if time_ns > self.longest_ns:
            self.longest_ns = time_ns
        spread = self.longest_ns - self.shortest_ns
        if spread < self.least_spread_ms * 1e6:
            self.in_spike = False
        elif time_ns > self.shortest_ns + self.enter * spread:
            self.in_spike = True
        elif time_ns < self.shortest_ns + self.leave * spread:
            self.in_spike = False

    def on_loss(self, loss):
        # A timeout has no ACKs to decide by.
        if self.in_spike or loss.cause == ll.TIMEOUT:
            return ll.CONGESTION
        return ll.CORRUPTION
