"""Results of Kosek and others, IFIP Networking 2022 (arXiv 2205.01554): medians of the data in their repository.

The repository kosekmi/2022-ifip-nw-quic-proxies has no licence; only medians and quartiles of it are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from lightlag_papers.validation.measured.fact import Spread

__all__ = ["AMOUNTS", "GEO", "GOODPUTS", "LEO", "LOADS", "QUIC_MS", "Load", "Orbit"]


@dataclass(frozen=True)
class Orbit:
    """A satellite path of the testbed.

    Attributes
    ----------
    rtt_ms
        Median time from the request to the first byte, without PEP and without loss.
    """

    name: str
    rtt_ms: float


GEO, LEO = Orbit("GEO", 606.0), Orbit("LEO", 144.0)


@dataclass(frozen=True)
class Load:
    """A setting of the testbed with TCP, and its median page load time with quartiles.

    Attributes
    ----------
    document_ms
        Median time until the complete document has arrived.
    """

    orbit: Orbit
    loss_percent: float
    pep: bool
    load_ms: Spread
    document_ms: float

    @property
    def setting(self) -> str:
        """The path and the sender."""
        return f"{self.orbit.name}, loss {self.loss_percent:g} %, {'TCP with PEPs' if self.pep else 'TCP'}"


LOADS = (
    Load(GEO, 0, False, Spread(10_806, 10_750, 10_849), 1825),
    Load(GEO, 0.01, False, Spread(10_835, 10_795, 10_882), 1830),
    Load(GEO, 0.1, False, Spread(11_176, 10_942, 11_465), 1819),
    Load(GEO, 1, False, Spread(15_802, 14_125, 17_262), 1837),
    Load(GEO, 0, True, Spread(11_144, 11_100, 11_181), 1748),
    Load(GEO, 0.01, True, Spread(11_125, 11_091, 11_162), 1742),
    Load(GEO, 0.1, True, Spread(11_176, 11_120, 11_365), 1746),
    Load(GEO, 1, True, Spread(13_995, 13_085, 15_399), 1755),
    Load(LEO, 0, False, Spread(3218, 3177, 3284), 431),
    Load(LEO, 0.01, False, Spread(3228, 3154, 3286), 424),
    Load(LEO, 0.1, False, Spread(3302, 3202, 3457), 429),
    Load(LEO, 1, False, Spread(4573, 4143, 5304), 455),
    Load(LEO, 0, True, Spread(3308, 3243, 3368), 415),
    Load(LEO, 0.01, True, Spread(3322, 3236, 3396), 409),
    Load(LEO, 0.1, True, Spread(3368, 3290, 3494), 418),
    Load(LEO, 1, True, Spread(4298, 4019, 5044), 440),
)
"""Navigation timing of Chromium in the authors' file `web_performance.csv`: `loadEventStart` and `responseEnd`."""

QUIC_MS = (
    (GEO, 0, False, 7669),
    (GEO, 0, True, 7344),
    (GEO, 1, False, 16_865),
    (GEO, 1, True, 9409),
    (LEO, 0, False, 2613),
    (LEO, 0, True, 3172),
)
"""Path, loss in per cent, whether two proxies end QUIC between the hosts, and the median load time with QUIC in ms."""

AMOUNTS = (
    (1_000_000, False, 3.846),
    (1_000_000, True, 2.647),
    (1_620_000, False, 4.553),
    (1_620_000, True, 3.379),
)
"""Bytes of a download over GEO without loss, with PEPs or without, and the time in s: `goodput_100ms_bins.csv`, whose
values are sums in units of 100 B. Notes that read them as Mbit/s find 16.2 Mbit/s after 4.6 and 3.4 s."""

GOODPUTS = (
    (0, False, 15.52),
    (0.01, False, 9.42),
    (0.1, False, 1.70),
    (1, False, 0.229),
    (0, True, 16.34),
    (0.01, True, 9.88),
    (0.1, True, 1.86),
    (1, True, 0.286),
)
"""Loss in %, with PEPs or without, and the mean goodput of 30 s over GEO in Mbit/s: `goodput_1s_bins.csv`."""
