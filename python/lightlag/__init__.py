"""lightlag simulates transport protocols over satellite, wireless and other long or lossy paths.

Examples
--------
>>> import lightlag as ll
>>> net = ll.Network("geo")
>>> net.link("client", "gateway", rate="1 Gbit/s", delay="1 ms")
>>> net.link("gateway", "server", rate="10 Mbit/s", delay="300 ms", queue="1 bdp", loss=1e-4)
>>> net.flow("client", "server", transfer="2 MB", congestion="hybla")
>>> result = ll.run(net, duration="120 s", seed=1)
>>> result.summary["flows"][0]["delivered_bytes"]
2000000

``result.flows`` and ``result.trace("cwnd")`` are polars data frames, ``result.plot("cwnd")`` is a figure.
polars and matplotlib are imported when they are first needed.
"""

from __future__ import annotations

# isort: off
from lightlag import _signals  # first: the command then handles Ctrl-C, also while modules load
# isort: on

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lightlag._engine import ScenarioError, __version__
from lightlag._renamed import former_modules, renamed
from lightlag.errors import AlgorithmError, InputError, Interrupted

if TYPE_CHECKING:
    from lightlag import analyse, libm, plot, presets
    from lightlag.captures import Capture, inspect
    from lightlag.comparison import Comparison, compare, load_comparison
    from lightlag.constellation import sky
    from lightlag.custom import (
        CONGESTION,
        CORRUPTION,
        DROP,
        GROUND,
        HOLD,
        LOSS,
        MARK,
        PASS,
        REPEATED_TIMEOUT,
        REROUTE,
        TIMEOUT,
        UNREACHABLE,
        CongestionControl,
        LossResponse,
        QueueDiscipline,
        Router,
        SatelliteRouter,
        Traffic,
        compiled,
        parameter,
        register,
        state,
        uniform,
    )
    from lightlag.diagnosis import Diagnosis, why
    from lightlag.difference import Difference, diff
    from lightlag.exports import Export, NtnOptions, export
    from lightlag.loading import load
    from lightlag.results import Result
    from lightlag.running import Batch, Stream, run, stream
    from lightlag.scenario import (
        Bets,
        Chain,
        ChallengeAcks,
        Constellation,
        Crash,
        Defaults,
        DelayedAck,
        Directions,
        Dumbbell,
        Flow,
        FlowTemplate,
        Handover,
        Iot,
        KeepAlive,
        Link,
        LinkParameters,
        Medium,
        Network,
        Node,
        Pcap,
        PointToPoint,
        Proxy,
        Quic,
        QuicAck,
        QuicAckFrequency,
        Radio,
        RateControl,
        Reads,
        Record,
        Route,
        Rto,
        Satellite,
        SatelliteLink,
        Scenario,
        Scps,
        Shell,
        Star,
        Station,
        StationWaypoint,
        Swarm,
        Tcp,
        Terrestrial,
        Tunnel,
    )
    from lightlag.study import Study, open_study

__all__ = [
    "CONGESTION",
    "CORRUPTION",
    "DROP",
    "GROUND",
    "HOLD",
    "LOSS",
    "MARK",
    "PASS",
    "REPEATED_TIMEOUT",
    "REROUTE",
    "TIMEOUT",
    "UNREACHABLE",
    "AlgorithmError",
    "Batch",
    "Bets",
    "Capture",
    "Chain",
    "ChallengeAcks",
    "Comparison",
    "CongestionControl",
    "Constellation",
    "Crash",
    "Defaults",
    "DelayedAck",
    "Diagnosis",
    "Difference",
    "Directions",
    "Dumbbell",
    "Export",
    "Flow",
    "FlowTemplate",
    "Handover",
    "InputError",
    "Interrupted",
    "Iot",
    "KeepAlive",
    "Link",
    "LinkParameters",
    "LossResponse",
    "Medium",
    "Network",
    "Node",
    "NtnOptions",
    "Pcap",
    "PointToPoint",
    "Proxy",
    "QueueDiscipline",
    "Quic",
    "QuicAck",
    "QuicAckFrequency",
    "Radio",
    "RateControl",
    "Reads",
    "Record",
    "Result",
    "Route",
    "Router",
    "Rto",
    "Satellite",
    "SatelliteLink",
    "SatelliteRouter",
    "Scenario",
    "ScenarioError",
    "Scps",
    "Shell",
    "Star",
    "Station",
    "StationWaypoint",
    "Stream",
    "Study",
    "Swarm",
    "Tcp",
    "Terrestrial",
    "Traffic",
    "Tunnel",
    "__version__",
    "analyse",
    "compare",
    "compiled",
    "diff",
    "export",
    "inspect",
    "libm",
    "load",
    "load_comparison",
    "open_study",
    "parameter",
    "plot",
    "presets",
    "register",
    "run",
    "sky",
    "state",
    "stream",
    "uniform",
    "why",
]

assert _signals, "used by being imported"
former_modules()

_MODULES = {
    **{name: name for name in ("analyse", "libm", "plot", "presets")},
    "constellation_plot": "constellation.plot",
    "repetition": "captures.repetition",
    "sky_presets": "presets.sky",
    "streaming": "running.streaming",
    "swarm_paths": "swarm.paths",
    "swarm_player": "swarm.player",
    "swarm_plot": "swarm.plot",
}
"""Modules that are attributes of the package, by the name of the attribute."""
_FROM = {
    name: module
    for module, names in (
        ("captures", "Capture inspect"),
        ("comparison", "Comparison compare load_comparison"),
        ("constellation", "sky"),
        ("diagnosis", "Diagnosis why"),
        ("difference", "Difference diff"),
        ("exports", "Export NtnOptions export"),
        ("loading", "load"),
        (
            "custom",
            "CONGESTION CORRUPTION CongestionControl DROP GROUND HOLD LOSS LossResponse MARK PASS QueueDiscipline "
            "REPEATED_TIMEOUT REROUTE Router SatelliteRouter TIMEOUT Traffic UNREACHABLE compiled parameter register "
            "state uniform",
        ),
        ("results", "Result"),
        ("running", "Batch Stream run stream"),
        ("study", "Study open_study"),
    )
    for name in names.split()
}
"""Modules of the public names that are not in `scenario`. Each is imported when one of its names is first used."""
_IMPORT = importlib._bootstrap.__name__
"""Name of the Python module that implements ``from lightlag import NAME``."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"lightlag.{_MODULES[name]}")
    if name not in __all__:
        if (message := renamed(f"lightlag.{name}")) and sys._getframe(1).f_globals.get("__name__") == _IMPORT:
            # "from lightlag import NAME" would replace the message of an AttributeError.
            raise ImportError(message)
        raise AttributeError(renamed(f"lightlag.{name}") or f"module 'lightlag' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lightlag.{_FROM.get(name, 'scenario')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "errors"])
