"""A policer: a token bucket that drops what finds no tokens, as the draft's §3.6 and RFC 2475 describe."""

from __future__ import annotations

from typing import Any

from lightlag.custom import DROP, PASS, QueueDiscipline, parameter, state

__all__ = ["Policer"]


class Policer(QueueDiscipline):
    """Drops packets that exceed a token bucket."""

    name = "policer"

    tokens_per_s: float = parameter(1.25e6, min=1.0, unit="B/s", meaning="Token rate.")
    bucket: float = parameter(125e3, min=1.0, unit="B", meaning="Size of the bucket.")

    spent: float = state(0.0)
    """Tokens taken from the bucket and not yet refilled."""
    last_ns: int = state(0)
    """Time of the last packet."""

    def on_enqueue(self, packet: Any) -> int:
        """Takes the tokens of a packet, or drops it."""
        refilled = self.tokens_per_s * (packet.now_ns - self.last_ns) * 1e-9
        self.last_ns = packet.now_ns
        self.spent = max(self.spent - refilled, 0.0)
        if self.spent + packet.size > self.bucket:
            return DROP
        self.spent += packet.size
        return PASS
