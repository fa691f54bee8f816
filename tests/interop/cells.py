"""The cells of the matrix: what is tried."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

ALGORITHMS = ("cubic", "bbr", "newreno", "hybla")
LOSSES = (0.0, 0.001, 0.01)
# Whole bytes of 64 MB, as `--send 64MB` has them.
SIZE = 64_000_000
SHORT = 4_000_000

# Between kernel and host, each way: a round trip of 4 ms, so that even 1 % of loss takes seconds, not minutes.
PATH = ("--rate", "200 Mbit/s", "--delay", "2 ms", "--queue", "500")

OPTIONS = ("sack", "timestamps", "window_scaling", "ecn", "mss", "pause")


@dataclass(frozen=True)
class Cell:
    """One transfer. An option that is changed stands in ``changed``; ``by_kernel``: the kernel declines it, not we."""

    to_us: bool
    congestion: str = "cubic"
    loss: float = 0.0
    changed: tuple[str, ...] = ()
    by_kernel: bool = False
    we_listen: bool = True
    size: int = SIZE

    def name(self) -> str:
        """Its description."""
        way = "kernel → ours" if self.to_us else "ours → kernel"
        caller = "kernel calls" if self.we_listen else "we call"
        changed = " + ".join(self.words()) or "all options"
        return f"{way}, {caller}, {self.congestion}, loss {100 * self.loss:g} %, {changed}"

    def words(self) -> list[str]:
        """The description of its change."""
        side = "the kernel's" if self.by_kernel else "our"
        words = {
            "sack": f"no SACK ({side} side)",
            "timestamps": f"no timestamps ({side} side)",
            "window_scaling": f"no window scaling ({side} side)",
            "ecn": "ECN",
            "mss": "MSS 536",
            "pause": "zero window",
        }
        return [words[option] for option in self.changed]

    @property
    def mss(self) -> int | None:
        """The largest payload that may occur."""
        return 536 if "mss" in self.changed else 1460

    @property
    def kernel_congestion(self) -> str:
        """The kernel's congestion control."""
        return {"bbr": "bbr", "newreno": "reno"}.get(self.congestion, "cubic")

    def kernel_settings(self) -> dict[str, str]:
        """Settings under net.ipv4."""
        declined = self.changed if self.by_kernel else ()
        return {
            "tcp_sack": "0" if "sack" in declined else "1",
            "tcp_timestamps": "0" if "timestamps" in declined else "1",
            "tcp_window_scaling": "0" if "window_scaling" in declined else "1",
            "tcp_ecn": "1" if "ecn" in self.changed else "2",
        }

    def our_options(self) -> list[str]:
        """Options of ``lightlag``."""
        options = ["--congestion", self.congestion, *PATH, "--loss", f"{self.loss:g}"]
        if not self.by_kernel:
            for option in ("sack", "timestamps", "window_scaling"):
                if option in self.changed:
                    options += ["--set", f"{option}=false"]
            if "timestamps" in self.changed:
                options += ["--set", "eifel=false"]
        if "ecn" in self.changed:
            options += ["--set", "ecn=classic"]
        if "mss" in self.changed:
            options += ["--set", "mss=536 B"]
        if self.to_us:
            options += ["--sink"] if self.we_listen else ["--receive"]
        else:
            options += ["--send", f"{self.size} B"]
        if "pause" in self.changed and self.to_us:
            options += ["--pause-after", f"{self.size // 4} B", "--pause-for", "2 s"]
        return options

    def peer_options(self) -> list[str]:
        """Options of the kernel's side."""
        options = ["--size", str(self.size)]
        if "pause" in self.changed and not self.to_us:
            options += ["--pause-after", str(self.size // 4), "--buffer", "262144"]
        return options

    def agreed(self) -> dict[str, bool]:
        """The options that the handshake must agree on."""
        return {
            "sack": "sack" not in self.changed,
            "timestamps": "timestamps" not in self.changed,
            "window_scaling": "window_scaling" not in self.changed,
            "ecn": "ecn" in self.changed,
        }


def product(size: int = SIZE) -> Iterator[Cell]:
    """Algorithm × direction × loss."""
    for congestion, loss, to_us in itertools.product(ALGORITHMS, LOSSES, (True, False)):
        yield Cell(to_us, congestion, loss, we_listen=to_us, size=size)


def one_at_a_time(size: int = SIZE) -> Iterator[Cell]:
    """Each option changed, in both directions, by either side, with the other end calling than in the product."""
    for option, to_us in itertools.product(OPTIONS, (True, False)):
        yield Cell(to_us, loss=0.001, changed=(option,), we_listen=not to_us, size=size)
        if option in ("sack", "timestamps", "window_scaling"):
            yield Cell(to_us, loss=0.001, changed=(option,), by_kernel=True, we_listen=not to_us, size=size)


def pairs(size: int = SIZE) -> Iterator[Cell]:
    """Two options changed at once, and all of them."""
    algorithms = itertools.cycle(ALGORITHMS)
    for changed in [*itertools.combinations(OPTIONS, 2), OPTIONS]:
        for to_us in (True, False):
            yield Cell(to_us, next(algorithms), 0.001, changed, we_listen=to_us, size=size)


def full() -> list[Cell]:
    """The whole matrix."""
    return [*product(), *one_at_a_time(), *pairs()]


def short() -> list[Cell]:
    """A part of it that takes seconds."""
    by_algorithm = [
        Cell(to_us, congestion, 0.001, we_listen=to_us, size=SHORT)
        for congestion, to_us in itertools.product(ALGORITHMS, (True, False))
    ]
    return by_algorithm + [cell for cell in one_at_a_time(SHORT) if not cell.by_kernel]
