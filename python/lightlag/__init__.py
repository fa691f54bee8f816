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
from lightlag import _signals  # first: from here on the command says what Ctrl-C did, also while modules load
# isort: on

import importlib
from typing import TYPE_CHECKING, Any

from lightlag._engine import ScenarioError, __version__
from lightlag.errors import AlgorithmError, InputError, Interrupted

if TYPE_CHECKING:
    from lightlag import analyse, libm, plot, presets
    from lightlag.captures import (
        Capture,
        inspect,
    )
    from lightlag.comparison import (
        Comparison,
        compare,
        load_comparison,
    )
    from lightlag.constellation import (
        sky,
    )
    from lightlag.difference import (
        Difference,
        diff,
    )
    from lightlag.loading import (
        load,
    )
    from lightlag.own import (
        AGAIN,
        CONGESTION,
        CORRUPTION,
        DROP,
        GROUND,
        LOSS,
        MARK,
        NOWHERE,
        PASS,
        REPEATED_TIMEOUT,
        TIMEOUT,
        WAIT,
        CongestionControl,
        LossResponse,
        QueueDiscipline,
        Router,
        SkyRouter,
        Traffic,
        compiled,
        parameter,
        register,
        state,
        uniform,
    )
    from lightlag.results import (
        Result,
    )
    from lightlag.running import (
        Batch,
        Stream,
        run,
        stream,
    )
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
        Line,
        Link,
        Medium,
        Network,
        Node,
        Pcap,
        PointToPoint,
        Proxy,
        Radio,
        RateControl,
        Record,
        Route,
        Rto,
        Satellite,
        Scenario,
        Scps,
        Shell,
        SkyLine,
        SkyWaypoint,
        Star,
        Station,
        Swarm,
        Tcp,
        Terrestrial,
    )
    from lightlag.study import (
        Study,
        open_study,
    )

__all__ = [
    "AGAIN",
    "CONGESTION",
    "CORRUPTION",
    "DROP",
    "GROUND",
    "LOSS",
    "MARK",
    "NOWHERE",
    "PASS",
    "REPEATED_TIMEOUT",
    "TIMEOUT",
    "WAIT",
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
    "Difference",
    "Directions",
    "Dumbbell",
    "Flow",
    "FlowTemplate",
    "Handover",
    "InputError",
    "Interrupted",
    "Iot",
    "KeepAlive",
    "Line",
    "Link",
    "LossResponse",
    "Medium",
    "Network",
    "Node",
    "Pcap",
    "PointToPoint",
    "Proxy",
    "QueueDiscipline",
    "Radio",
    "RateControl",
    "Record",
    "Result",
    "Route",
    "Router",
    "Rto",
    "Satellite",
    "Scenario",
    "ScenarioError",
    "Scps",
    "Shell",
    "SkyLine",
    "SkyRouter",
    "SkyWaypoint",
    "Star",
    "Station",
    "Stream",
    "Study",
    "Swarm",
    "Tcp",
    "Terrestrial",
    "Traffic",
    "__version__",
    "analyse",
    "compare",
    "compiled",
    "diff",
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
]

assert _signals, "used by being imported"

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
"""The modules of the package that are attributes of it, by the names of these."""
_FROM = {
    "CONGESTION": "own",
    "CORRUPTION": "own",
    "GROUND": "own",
    "LossResponse": "own",
    "NOWHERE": "own",
    "SkyRouter": "own",
    "AGAIN": "own",
    "WAIT": "own",
    "Router": "own",
    "Traffic": "own",
    "DROP": "own",
    "LOSS": "own",
    "MARK": "own",
    "PASS": "own",
    "REPEATED_TIMEOUT": "own",
    "TIMEOUT": "own",
    "Batch": "running",
    "Capture": "captures",
    "Comparison": "comparison",
    "CongestionControl": "own",
    "QueueDiscipline": "own",
    "Difference": "difference",
    "Result": "results",
    "Stream": "running",
    "Study": "study",
    "compare": "comparison",
    "compiled": "own",
    "diff": "difference",
    "inspect": "captures",
    "load": "loading",
    "load_comparison": "comparison",
    "open_study": "study",
    "parameter": "own",
    "register": "own",
    "run": "running",
    "sky": "constellation",
    "state": "own",
    "stream": "running",
    "uniform": "own",
}
"""The modules of public names that are not in `scenario`. Each is imported when one of its names is first used."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"lightlag.{_MODULES[name]}")
    if name not in __all__:
        raise AttributeError(f"module 'lightlag' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lightlag.{_FROM.get(name, 'scenario')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "errors"])
