"""The cells of the test matrix."""

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
    """One transfer. ``changed`` names the options that are changed: on the kernel's side if ``by_kernel`` is true,
    otherwise on ours.
    """

    to_us: bool
    congestion: str = "cubic"
    loss: float = 0.0
    changed: tuple[str, ...] = ()
    by_kernel: bool = False
    we_listen: bool = True
    size: int = SIZE

    def name(self) -> str:
        """Returns a description of the transfer."""
        way = "kernel → ours" if self.to_us else "ours → kernel"
        caller = "kernel calls" if self.we_listen else "we call"
        changed = " + ".join(self.words()) or "all options"
        return f"{way}, {caller}, {self.congestion}, loss {100 * self.loss:g} %, {changed}"

    def words(self) -> list[str]:
        """Returns a description of the changed options."""
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
        """Maximum payload of a segment that may occur, in bytes."""
        return 536 if "mss" in self.changed else 1460

    @property
    def kernel_congestion(self) -> str:
        """Congestion control of the kernel's side."""
        return {"bbr": "bbr", "newreno": "reno"}.get(self.congestion, "cubic")

    def kernel_settings(self) -> dict[str, str]:
        """Settings of the kernel under net.ipv4."""
        declined = self.changed if self.by_kernel else ()
        return {
            "tcp_sack": "0" if "sack" in declined else "1",
            "tcp_timestamps": "0" if "timestamps" in declined else "1",
            "tcp_window_scaling": "0" if "window_scaling" in declined else "1",
            "tcp_ecn": "1" if "ecn" in self.changed else "2",
        }

    def our_options(self) -> list[str]:
        """Command-line options of ``lightlag``."""
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
        """Command-line options of the kernel's side."""
        options = ["--size", str(self.size)]
        if "pause" in self.changed and not self.to_us:
            options += ["--pause-after", str(self.size // 4), "--buffer", "262144"]
        return options

    def agreed(self) -> dict[str, bool]:
        """The options that the handshake must negotiate."""
        return {
            "sack": "sack" not in self.changed,
            "timestamps": "timestamps" not in self.changed,
            "window_scaling": "window_scaling" not in self.changed,
            "ecn": "ecn" in self.changed,
        }


def product(size: int = SIZE) -> Iterator[Cell]:
    """Yields a transfer for each combination of algorithm, loss rate and direction."""
    for congestion, loss, to_us in itertools.product(ALGORITHMS, LOSSES, (True, False)):
        yield Cell(to_us, congestion, loss, we_listen=to_us, size=size)


def one_at_a_time(size: int = SIZE) -> Iterator[Cell]:
    """Yields transfers with one changed option, in both directions and on either side. The end that opens the
    connection is not the one that opens it in ``product``.
    """
    for option, to_us in itertools.product(OPTIONS, (True, False)):
        yield Cell(to_us, loss=0.001, changed=(option,), we_listen=not to_us, size=size)
        if option in ("sack", "timestamps", "window_scaling"):
            yield Cell(to_us, loss=0.001, changed=(option,), by_kernel=True, we_listen=not to_us, size=size)


def pairs(size: int = SIZE) -> Iterator[Cell]:
    """Yields transfers with each pair of options changed, and transfers with all options changed."""
    algorithms = itertools.cycle(ALGORITHMS)
    for changed in [*itertools.combinations(OPTIONS, 2), OPTIONS]:
        for to_us in (True, False):
            yield Cell(to_us, next(algorithms), 0.001, changed, we_listen=to_us, size=size)


def full() -> list[Cell]:
    """The complete matrix."""
    return [*product(), *one_at_a_time(), *pairs()]


def short() -> list[Cell]:
    """Returns a part of the matrix that runs in seconds."""
    by_algorithm = [
        Cell(to_us, congestion, 0.001, we_listen=to_us, size=SHORT)
        for congestion, to_us in itertools.product(ALGORITHMS, (True, False))
    ]
    return by_algorithm + [cell for cell in one_at_a_time(SHORT) if not cell.by_kernel]
