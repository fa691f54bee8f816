"""Live video of variable rate: a key frame, and smaller frames that depend on it.

    lightlag run geo --set flows.0.traffic.python=video.py:Video

With ``@ll.compiled`` before the class it runs at the speed of machine code.
"""

import math

import lightlag as ll
from lightlag import libm


class Video(ll.Traffic):
    """Sends one frame at a time. The size has a lognormal distribution around the mean for the kind of frame."""

    frames_a_second: float = ll.parameter(25.0, min=1.0, max=240.0, meaning="The frame rate.")
    group: int = ll.parameter(12, min=1, max=1000, unit="frames", meaning="From one key frame to the next.")
    key_size: float = ll.parameter(30_000.0, min=1.0, max=1e7, unit="B", meaning="Mean size of a key frame.")
    other_size: float = ll.parameter(6_000.0, min=1.0, max=1e7, unit="B", meaning="Mean size of another frame.")
    deviation: float = ll.parameter(0.3, min=0.0, max=2.0, meaning="Standard deviation of the logarithm of a size.")

    def next_message(self, sent):
        self.wait_ns = 0 if sent.messages == 0 else int(1e9 / self.frames_a_second)
        mean = self.key_size if sent.messages % self.group == 0 else self.other_size
        # A normal number by Box and Muller; exp(s^2 / 2) is the mean of exp(s n).
        normal = math.sqrt(-2.0 * libm.log(1.0 - ll.uniform(self))) * libm.cos(6.283185307179586 * ll.uniform(self))
        size = mean * libm.exp(self.deviation * normal - 0.5 * self.deviation * self.deviation)
        self.size = max(1, int(size))
