"""Checks of memory: a message before the run, instead of a process that is killed without one."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag import _engine
from lightlag.errors import InputError

if TYPE_CHECKING:
    from lightlag.outcomes.plan import Plan

if sys.platform != "win32":
    import resource

__all__ = ["available", "check", "check_network", "check_plan", "check_tables", "watch"]

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available() -> float:
    """Returns the bytes that this process may still allocate: of the machine, of its cgroup and under its own limit."""
    found = [float("inf")]
    status = _read("/proc/self/status")
    taken = {name: 1024.0 * int(kilobytes) for name, kilobytes in re.findall(r"(Vm\w+):\s+(\d+) kB", status)}
    if free := re.search(r"MemAvailable:\s+(\d+) kB", _read("/proc/meminfo")):
        found.append(1024.0 * int(free[1]))
    groups = [limit.strip() for limit in map(_read, _LIMITS)]
    found += [int(limit) - taken.get("VmRSS", 0.0) for limit in groups if limit.isdigit()]
    if sys.platform != "win32":
        own, _ = resource.getrlimit(resource.RLIMIT_AS)
        if own != resource.RLIM_INFINITY:
            found.append(own - taken.get("VmSize", 0.0))
    return max(0.0, min(found))


def check(needed: float, what: str, remedy: str) -> None:
    """Rejects work that takes more memory than available.

    Parameters
    ----------
    needed
        Minimum number of bytes.
    what
        Description of the work, with its numbers.

    Raises
    ------
    InputError
        If less memory is available.
    """
    from lightlag.text.quantities import size

    free = available()
    if needed > free:
        raise InputError(f"{what} would take {size(needed)} of memory or more, and there are {size(free)}; {remedy}")


def check_network(scenario: _engine.Scenario, at_once: int = 1) -> None:
    """Rejects a network that does not fit into memory.

    Parameters
    ----------
    scenario
        The scenario of the network.
    at_once
        Number of simultaneous runs.

    Raises
    ------
    InputError
        If it does not fit.
    """
    links, flows, least = scenario.counts()
    check(float(at_once) * least, f"{links:,} links and {flows:,} flows{_several(at_once)}", _smaller(at_once))


_MUCH = 2e9
"""Size in bytes: larger tables cause a warning on any machine."""
_SUMMARY = 200.0
"""Bytes per flow that is printed and written: 100,000 flows take 246 MB after they are read, 225 MB in any run."""


def check_tables(scenario: _engine.Scenario, printed: bool = False, at_once: int = 1) -> list[tuple[str, str]]:
    """Rejects a run whose recorded tables do not fit into memory.

    Parameters
    ----------
    scenario
        The scenario of the run.
    printed
        Whether the summary of each flow is printed and written.
    at_once
        Number of simultaneous runs.

    Returns
    -------
    list of (place, message)
        A warning if the tables may take more than half of the available memory, or more than 2 GB.

    Raises
    ------
    InputError
        If the network and its unconditional samples need more than the available memory.
    ScenarioError
        If the scenario describes no network.
    """
    links, flows, network = scenario.counts()
    least, most = scenario.table_memory()
    what = f"{links:,} links and {flows:,} flows, and their samples over {scenario.duration},{_several(at_once)}"
    check(at_once * (network + least + (_SUMMARY * flows if printed else 0.0)), what, _remedy(at_once))
    return _warning(at_once * most, scenario.duration, at_once)


_POINTS = 100
"""Maximum number of points of a plan whose memory is estimated: thousands would take longer than their runs."""


def check_plan(plan: Plan, at_once: int) -> list[tuple[str, str]]:
    """Rejects runs of a comparison or a study whose combined size does not fit into memory.

    Parameters
    ----------
    plan
        The runs. Runs of one point take the same memory, whatever their algorithm and seed.
    at_once
        Number of simultaneous runs. The largest ones are assumed to coincide.

    Returns
    -------
    list of (place, message)
        A warning as from :func:`check_tables`.

    Raises
    ------
    InputError
        If they need more memory than available.
    """
    texts = list({cell.point: cell.text for cell in reversed(plan.cells)}.values())
    needs = []
    for text in texts[:: math.ceil(len(texts) / _POINTS)]:
        scenario = _engine.parse(text, "json")
        links, flows, network = scenario.counts()
        least, most = scenario.table_memory()
        needs.append((network + least, most, network, links, flows, scenario.duration))
    needs.sort(reverse=True)
    each = plan.run_count // len(texts)
    largest = [need for need in needs for _ in range(min(each, at_once))][:at_once]
    *_, links, flows, duration = largest[0]
    several = _several(len(largest))
    if largest[0] != largest[-1]:
        several = f" in the largest of {len(largest)} runs at the same time; they"
    what = f"{links:,} links and {flows:,} flows"
    check(sum(need[2] for need in largest), what + several, _smaller(len(largest)))
    what += f", and their samples over {duration},{several}"
    check(sum(need[0] for need in largest), what, _remedy(len(largest)))
    return _warning(sum(need[1] for need in largest), duration, len(largest))


def _several(at_once: int) -> str:
    return f" in each of {at_once} runs at the same time" if at_once > 1 else ""


def _smaller(at_once: int) -> str:
    return "use a smaller network" + (", or fewer --jobs" if at_once > 1 else "")


def _remedy(at_once: int) -> str:
    fewer = ", and so do fewer runs at the same time (--jobs 1)" if at_once > 1 else ""
    return f'record.interval = "1 s", or record.trace = "off" and record.queue = "off", takes less{fewer}'


def _warning(most: float, duration: str, at_once: int) -> list[tuple[str, str]]:
    """Returns the warning for tables that may take much memory."""
    from lightlag.text.quantities import size

    free = available()
    if most <= min(_MUCH, free / 2):
        return []
    message = (
        f"tables over {duration}{_several(at_once)} may take up to {size(most)} of memory, and there are {size(free)}; "
        f"{_remedy(at_once)}"
    )
    return [("record", message)]


_RESERVE = 64e6
"""Bytes reserved for other processes when a run ends for lack of memory; less if few were free at the start."""


def watch() -> Callable[[], None]:
    """Returns a function to call occasionally while data grows. It raises MemoryError before memory runs out."""
    reserve = min(_RESERVE, available() / 4)

    def look() -> None:
        if available() < reserve:
            raise MemoryError

    return look


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError):
        return ""
