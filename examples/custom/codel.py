"""CoDel (RFC 8289): drops packets at the head of the queue when all packets of an interval have waited too long.

    lightlag run geo --set links.1.queue.python=codel.py:CoDel

It gives the results of ``{ discipline = "codel" }``. With ``@ll.compiled`` before the class and the functions it runs at the
speed of machine code.
"""

import math

import lightlag as ll


class CoDel(ll.QueueDiscipline):
    """Drops or marks the packet at the head while the shortest wait of an interval is above a target."""

    target_ms: float = ll.parameter(5.0, min=0.001, max=60000.0, unit="ms", meaning="The wait that is accepted.")
    interval_ms: float = ll.parameter(100.0, min=0.001, max=60000.0, unit="ms", meaning="About the longest RTT.")
    ecn: bool = ll.parameter(False, meaning="Packets that can be marked are not dropped.")

    first_above: int = ll.state(-1)
    """Time when the delay will have been above the target for an interval; -1 while it is below."""
    dropping: bool = ll.state(False)
    drop_next: int = ll.state(0)
    count: int = ll.state(0)
    """Number of drops in this dropping state."""
    last_count: int = ll.state(0)
    largest: int = ll.state(0)
    """Size of the largest packet so far, in bytes."""
    entered: int = ll.state(-1)
    """Time of the drop with which a dropping state started: the next packet at that time is not dropped."""
    dropped: int = ll.state(-1)
    """Time of any other drop: if the next packet at that time is also late, the next drop is due later."""

    def on_enqueue(self, packet):
        if not packet.full:
            self.largest = max(self.largest, packet.size)
        return ll.PASS

    def on_dequeue(self, packet):
        now, bad = packet.now_ns, is_bad(self, packet)
        if self.entered == now:
            self.entered = -1
            return ll.PASS
        if not bad:
            self.dropping = False
            return ll.PASS
        marks = self.ecn and packet.ecn != 0
        if not self.dropping:
            enter(self, now)
            if not marks:
                self.entered = now
            return ll.MARK if marks else ll.DROP
        if self.dropped == now:
            self.drop_next = control_law(self, self.drop_next)
        self.dropped = -1
        if now < self.drop_next:
            return ll.PASS
        self.count += 1
        if marks:
            self.drop_next = control_law(self, self.drop_next)
            return ll.MARK
        self.dropped = now
        return ll.DROP


def is_bad(codel, packet):
    """Whether all packets of an interval have waited too long (§5.6, `dodequeue`)."""
    if packet.waited_ns < codel.target_ms * 1e6 or codel.bytes <= codel.largest:
        codel.first_above = -1
        return False
    if codel.first_above < 0:
        codel.first_above = packet.now_ns + round(codel.interval_ms * 1e6)
    return packet.now_ns >= codel.first_above


def enter(codel, now):
    """Enters the dropping state, with the last drop rate if the previous dropping state ended recently (§5.5)."""
    hits = codel.count - codel.last_count
    recently = now - codel.drop_next < 16 * codel.interval_ms * 1e6
    codel.count = hits if hits > 1 and recently else 1
    codel.last_count = codel.count
    codel.dropping = True
    codel.drop_next = control_law(codel, now)


def control_law(codel, start):
    """Returns the time of the drop after the one at `start`."""
    return start + int(codel.interval_ms / 1e3 / math.sqrt(codel.count) * 1e9 + 0.5)
