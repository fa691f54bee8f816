"""Public names that were replaced. The error for an old name states the new one."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from typing import Any, TypeVar

__all__ = ["RENAMED", "former_attributes", "former_keywords", "former_modules", "renamed"]

C = TypeVar("C", bound=Callable[..., Any])
T = TypeVar("T")


RENAMED = {
    "Bets.patience=": "Bets.receive_timeout=",
    "Bets.transmissions=": "Bets.max_transmissions=",
    "Comparison.folder": "Comparison.directory",
    "Comparison.save.folder=": "Comparison.save.directory=",
    "CongestionControl.own_recovery": "CongestionControl.controls_recovery",
    "Medium.tries=": "Medium.max_attempts=",
    "Radio.tries=": "Radio.max_attempts=",
    "Repetition.folder": "Repetition.directory",
    "Result.folder": "Result.directory",
    "Result.report.folder=": "Result.report.directory=",
    "Result.save.folder=": "Result.save.directory=",
    "Sky.courses": "Sky.path_changes",
    "Sky.looks": "Sky.visible",
    "Sky.places": "Sky.station_coordinates",
    "Sky.player": "Sky.animation",
    "Sky.way": "Sky.path",
    "Study.folder": "Study.directory",
    "Study.folder=": "Study.directory=",
    "Study.measures=": "Study.metrics=",
    "StudyResults.folder": "StudyResults.directory",
    "VectorEnv.result.at=": "VectorEnv.result.environment=",
    "constellation.plot.globe.ways=": "constellation.plot.globe.paths=",
    "constellation.plot.film.ways=": "constellation.plot.film.paths=",
    "resent": "retransmitted",
    "emulate.at=": "emulate.nodes=",
    "import lightlag.judge": "import lightlag.validation",
    "import lightlag.own": "import lightlag.custom",
    "lightlag plot --apart": "lightlag plot --separate",
    "lightlag study repeat": "lightlag study rerun",
    "lightlag validate --again": "lightlag validate --rerun",
    "lightlag.AGAIN": "lightlag.REROUTE",
    "lightlag.Line": "lightlag.LinkParameters",
    "lightlag.NOWHERE": "lightlag.UNREACHABLE",
    "lightlag.SkyLine": "lightlag.SatelliteLink",
    "lightlag.SkyRouter": "lightlag.SatelliteRouter",
    "lightlag.SkyWaypoint": "lightlag.StationWaypoint",
    "lightlag.WAIT": "lightlag.HOLD",
    "lightlag.analyse.arrived": "lightlag.analyse.arrived_bytes",
    "lightlag.analyse.thinned": "lightlag.analyse.decimate",
    "lightlag.analyse.thinned_rows": "lightlag.analyse.decimate_rows",
    "lightlag.analyse.together": "lightlag.analyse.aggregate_goodput",
    "load.folder=": "load.directory=",
    "load_comparison.folder=": "load_comparison.directory=",
    "open_study.folder=": "open_study.directory=",
    "parameter.least=": "parameter.min=",
    "parameter.most=": "parameter.max=",
    "plot.comparisons.given=": "plot.comparisons.results=",
    "plot.facets.apart=": "plot.facets.separate=",
    "swarm.paths.way": "swarm.paths.path",
    "swarm.paths.ways": "swarm.paths.paths",
    "theory.cubic.kept=": "theory.cubic.beta=",
    "theory.cubic_random.kept=": "theory.cubic_random.beta=",
}
"""The new name of each old one."""


def renamed(old: str) -> str | None:
    """Returns the message for an old name, or None for any other."""
    return f"{old} is now {RENAMED[old]}" if old in RENAMED else None


class _FormerModules(MetaPathFinder):
    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        if message := renamed(f"import {fullname}"):
            raise ModuleNotFoundError(message, name=fullname)


def former_modules() -> None:
    """Makes an import of a former module raise an error that states the new one."""
    sys.meta_path.append(_FormerModules())


def former_keywords(owner: str | None = None) -> Callable[[C], C]:
    """Returns a decorator for a function or a class: a former keyword raises a TypeError that states the new one.

    Parameters
    ----------
    owner
        Name before the dot in `RENAMED`; by default the name of the function or class.
    """

    def decorated(target: C) -> C:
        name = owner or str(getattr(target, "__name__", ""))
        if isinstance(target, type):
            target.__init__ = _checked(target.__init__, name)  # type: ignore[misc]
            return target
        return _checked(target, name)

    return decorated


def former_attributes(owner: str) -> Callable[[type[T]], type[T]]:
    """Returns a decorator for a class: a former attribute raises an AttributeError that states the new one.

    Parameters
    ----------
    owner
        Name before the dot in `RENAMED`.
    """

    def decorated(target: type[T]) -> type[T]:
        def missing(self: T, name: str) -> Any:
            message = renamed(f"{owner}.{name}") or f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

        target.__getattr__ = missing  # type: ignore[attr-defined]
        return target

    return decorated


def _checked(function: C, name: str) -> C:
    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for keyword in given:
            if message := renamed(f"{name}.{keyword}="):
                raise TypeError(message)
        return function(*args, **given)

    return checked  # type: ignore[return-value]
