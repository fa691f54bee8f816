"""Old public names raise an error that states the new name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag._renamed import RENAMED
from lightlag.captures.repetition import Repetition
from lightlag.cli.app import app
from lightlag.constellation import plot as constellation_plot
from lightlag.emulation import emulate
from lightlag.gym.vector import VectorEnv
from lightlag.study import StudyResults
from lightlag.swarm import paths as swarm_paths
from lightlag.validation import theory
from lightlag.words.explain import explain


class Plain(ll.CongestionControl):
    def on_ack(self, ack: Any) -> None:
        pass

    def on_congestion(self, event: Any) -> None:
        pass


class UsageError(Exception):
    """A command line that is not accepted."""


def _declare(name: str) -> None:
    ll.register(type("Renamed", (Plain,), {name: True}))


def _called(function: Callable[..., object]) -> Callable[[str], object]:
    """Returns a call with one keyword. Errors other than an unknown keyword are ignored."""

    def use(keyword: str) -> None:
        try:
            function(**{keyword.rstrip("="): 0.5})
        except TypeError as error:
            if re.search("unexpected keyword| is now ", str(error)):
                raise
        except (OSError, ValueError):
            pass

    return use


def _typed(command: str) -> None:
    """Types a command, and raises the error in its output."""
    done = CliRunner().invoke(app, command.split(), env={"COLUMNS": "200"}, prog_name="lightlag")
    if re.search("No such|is now", done.output):
        raise UsageError(done.output)


def _plotted(kind: str) -> None:
    comparison = ll.compare("geo", ["cubic"], replications=1, sets={"duration": "1 s"}, vary={"links.1.loss": [0, 0.1]})
    comparison.plot(f"{kind}-vs-loss")


def _compared() -> ll.Comparison:
    return ll.compare("geo", ["cubic"], replications=1, sets={"duration": "1 s"})


def _ran() -> ll.Result:
    return ll.run("geo", sets={"duration": "1 s"})


def _has(cls: type, name: str) -> None:
    """Reads an attribute of an instance without values. Only the declaration of a new name is checked."""
    if name in {"directory"}:
        assert name in inspect.getsource(cls)
    else:
        getattr(_bare(cls), name)


def _bare(cls: type) -> Any:
    """Returns an instance without its values: only the names of its class matter."""
    return object.__new__(cls)


USES: dict[str, Callable[[str], object]] = {
    "": explain,
    "Bets.": _called(ll.Bets),
    "Comparison.": lambda name: getattr(_compared(), name),
    "Comparison.save.": _called(lambda **given: _compared().save(force=True, **given)),
    "CongestionControl.": _declare,
    "Medium.": _called(ll.Medium),
    "Radio.": _called(ll.Radio),
    "Repetition.": lambda name: _has(Repetition, name),
    "Result.": lambda name: getattr(_ran(), name),
    "Result.report.": _called(lambda **given: _ran().report(**given)),
    "Result.save.": _called(lambda **given: _ran().save(**given)),
    "Sky.": lambda name: getattr(ll.sky("iridium"), name),
    "Study.": lambda name: (
        _called(lambda **given: ll.Study("geo", **given))(name)
        if name.endswith("=")
        else getattr(ll.Study("geo"), name)
    ),
    "StudyResults.": lambda name: _has(StudyResults, name),
    "VectorEnv.result.": _called(lambda **given: VectorEnv.result(_bare(VectorEnv), **given)),
    "constellation.plot.film.": _called(lambda **given: constellation_plot.film(ll.sky("iridium"), "film.x", **given)),
    "constellation.plot.globe.": _called(lambda **given: constellation_plot.globe(ll.sky("iridium"), **given)),
    "emulate.": _called(emulate),
    "import ": importlib.import_module,
    "lightlag ": _typed,
    "lightlag.": lambda name: getattr(ll, name),
    "lightlag.analyse.": lambda name: getattr(ll.analyse, name),
    "load.": _called(ll.load),
    "load_comparison.": _called(ll.load_comparison),
    "open_study.": _called(ll.open_study),
    "parameter.": lambda name: ll.parameter(0.5, **{name.rstrip("="): 0.5}),  # type: ignore[arg-type]
    "plot.comparisons.": _called(ll.plot.comparisons),
    "plot.facets.": _called(ll.plot.facets),
    "theory.cubic.": _called(lambda **given: theory.cubic(0.01, 0.1, **given)),
    "theory.cubic_random.": _called(lambda **given: theory.cubic_random(0.01, 0.1, losses=10, **given)),
    "swarm.paths.": lambda name: getattr(swarm_paths, name),
}
"""A use of a name, by its owner."""


def _split(name: str) -> tuple[str, str]:
    owner = max((owner for owner in USES if name.startswith(owner)), key=len)
    return owner, name.removeprefix(owner)


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_states_the_new_one(old: str) -> None:
    new = RENAMED[old]
    owner, name = _split(old)
    with pytest.raises(
        (AttributeError, ImportError, TypeError, ll.InputError, UsageError), match=re.escape(f"{old} is now {new}")
    ):
        USES[owner](name)
    USES[owner](_split(new)[1])


def test_an_old_kind_of_plot_states_the_new_one() -> None:
    with pytest.raises(ll.InputError, match="resent is now retransmitted"):
        _plotted("resent")
    _plotted("retransmitted")


def test_an_import_of_an_old_name_states_the_new_one() -> None:
    with pytest.raises(ImportError, match=r"lightlag\.SkyLine is now lightlag\.SatelliteLink"):
        from lightlag import SkyLine  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from lightlag import nothing  # noqa: F401
    assert not hasattr(ll, "SkyLine")


def test_other_names_have_the_usual_error() -> None:
    with pytest.raises(AttributeError, match="'Sky' object has no attribute 'nothing'"):
        USES["Sky."]("nothing")
    with pytest.raises(AttributeError, match="module 'lightlag' has no attribute 'nothing'"):
        USES["lightlag."]("nothing")
    with pytest.raises(AttributeError, match=r"module 'lightlag\.analyse' has no attribute 'nothing'"):
        USES["lightlag.analyse."]("nothing")
    with pytest.raises(AttributeError, match=r"module 'lightlag\.swarm\.paths' has no attribute 'nothing'"):
        USES["swarm.paths."]("nothing")
    with pytest.raises(TypeError, match="parameter has no argument 'nothing'"):
        USES["parameter."]("nothing=")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        USES["Bets."]("nothing=")
    with pytest.raises(UsageError, match="No such option: --nothing"):
        USES["lightlag "]("plot --nothing")
