"""Checks of memory: a message before the run, instead of a process that is killed without one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError

if sys.platform != "win32":
    import resource

__all__ = ["available", "check", "check_network", "check_tables", "watch"]

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available() -> float:
    """Bytes that this process may still take: of the machine, of its group and under its own limit."""
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
    """Refuses work that takes more memory than there is.

    Parameters
    ----------
    needed
        Bytes, at least.
    what
        What takes them, with its numbers.

    Raises
    ------
    InputError
        If there are fewer.
    """
    from lightlag._quantities import size

    free = available()
    if needed > free:
        raise InputError(f"{what} would take {size(needed)} of memory or more, and there are {size(free)}; {remedy}")


def check_network(scenario: _engine.Scenario, at_once: int = 1) -> None:
    """Refuses a network that does not fit into the memory.

    Parameters
    ----------
    scenario
        The scenario of the network.
    at_once
        Runs at the same time.

    Raises
    ------
    InputError
        If it does not.
    """
    links, flows, least = scenario.counts()
    several = f" in each of {at_once} runs at the same time" if at_once > 1 else ""
    remedy = "take a smaller network" + (", or fewer --jobs" if at_once > 1 else "")
    check(float(at_once) * least, f"{links:,} links and {flows:,} flows{several}", remedy)


_MUCH = 2e9
"""Bytes of tables that are worth a warning on any machine."""
_SUMMARY = 1_300.0
"""Bytes of a flow in a summary that is printed and written: 100,000 flows take 332 MB, and 195 MB before it."""


def check_tables(scenario: _engine.Scenario, printed: bool = False) -> list[tuple[str, str]]:
    """Refuses a run whose recorded tables do not fit into the memory.

    Parameters
    ----------
    scenario
        The scenario of the run.
    printed
        Whether the summary of each flow is printed and written.

    Returns
    -------
    list of (place, message)
        A warning if the tables may take more than half of the memory that there is, or more than 2 GB.

    Raises
    ------
    InputError
        If the network and the samples that are taken in any case need more than there is.
    ScenarioError
        If the scenario describes no network.
    """
    from lightlag._quantities import size

    links, flows, network = scenario.counts()
    least, most = scenario.table_memory()
    remedy = 'record.interval = "1 s", or record.trace = "off" and record.queue = "off", takes less'
    what = f"{links:,} links and {flows:,} flows, and their samples over {scenario.duration},"
    check(network + least + (_SUMMARY * flows if printed else 0.0), what, remedy)
    free = available()
    if most <= min(_MUCH, free / 2):
        return []
    message = (
        f"tables over {scenario.duration} may take up to {size(most)} of memory, and there are {size(free)}; {remedy}"
    )
    return [("record", message)]


_RESERVE = 64e6
"""Bytes left for other processes when a run ends for lack of memory; less if there were few from the start."""


def watch() -> Callable[[], None]:
    """A function to call now and then while data grows. It raises MemoryError before memory runs out."""
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
