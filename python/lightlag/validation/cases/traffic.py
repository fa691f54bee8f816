"""An application that writes without limit, then at a limited rate or not at all, and then without limit again."""

from __future__ import annotations

from typing import Any

from lightlag.custom import Traffic, parameter, state

__all__ = ["Phased"]

MESSAGE = 1448
"""Bytes of a message while the rate is limited: the payload of a segment."""
LARGEST = 10_000_000
"""Maximum size of a message in bytes."""


class Phased(Traffic):
    """Bulk data, then a limited rate, then bulk data."""

    name = "phased"

    first: int = parameter(0, min=0, unit="B", meaning="Data written when the flow starts.")
    limited_ns: int = parameter(0, min=0, unit="ns", meaning="Time when the limited rate starts.")
    gap_ns: int = parameter(0, min=0, unit="ns", meaning="Time between messages of the limited rate; 0 is a pause.")
    resume_ns: int = parameter(10**15, min=0, unit="ns", meaning="Time when the rate is no longer limited.")
    rest: int = parameter(0, min=0, unit="B", meaning="Data written then.")

    written: int = state(0)
    """Bytes of the rest that were written."""

    def next_message(self, sent: Any) -> None:
        """Sets time and size of the next message."""
        now = sent.now_ns
        self.wait_ns = 0
        if sent.bytes < self.first:
            self.size = min(LARGEST, self.first - sent.bytes)
            return
        if now < self.resume_ns:
            due = max(now, self.limited_ns) + self.gap_ns if self.gap_ns > 0 else self.resume_ns
            if due < self.resume_ns:
                self.wait_ns = due - now
                self.size = MESSAGE
                return
            self.wait_ns = self.resume_ns - now
        self.size = min(LARGEST, self.rest - self.written)
        self.written += self.size
