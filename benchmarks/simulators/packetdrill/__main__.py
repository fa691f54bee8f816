#!/usr/bin/env python3
"""Runs TCP scripts of the packetdrill tool against our TCP.

    python benchmarks/simulators/packetdrill TOOL --libraries DIR [--selftests DIR] [--freebsd DIR]
                                        [--gvisor DIR] [--out docs/validation] [PATTERN ...]

TOOL is the tool's binary, or the source directory where it was built. Runs all scripts of its gtests/net/tcp, with
--selftests the scripts of the kernel's tools/testing/selftests/net/packetdrill, with --freebsd FreeBSD's suite
(freebsd-net/tcp-testsuite), and with --gvisor gVisor's test/packetdrill. Google's and the kernel's scripts run over IPv4,
over IPv4 in IPv6 sockets, and over IPv6, as in their own runners. Each run has its own network namespace with a device
tun0 and a copy of the kernel's settings, so that it may change sysctl and tc. If a script specifies addresses, it runs with
them over IPv4 alone, because its cookies depend on them. FreeBSD's scripts are translated first (`freebsd.py`). Scripts of
a class that cannot pass are left out, unless a pattern names them (`suites.py`); MPTCP scripts never run. Prints a line for
each run, with the reason of a failure; with --out, writes the page of the validation into that directory, which requires
the Python package. Exit status 1: less than 95 % passed.
"""

import argparse
import concurrent.futures
import os
import sys
from pathlib import Path

from page import Left, write_page
from runs import FAMILIES, Job, families, run
from suites import FREEBSD, GOOGLE, GVISOR, KERNEL, MPTCP, Suite


def main() -> int:
    arguments = parse()
    tool = find_tool(arguments.tool)
    folders = [(GOOGLE, tool.parent.parent / "tcp")]
    for suite, folder in ((KERNEL, arguments.selftests), (FREEBSD, arguments.freebsd), (GVISOR, arguments.gvisor)):
        if folder:
            folders.append((suite, Path(folder).resolve()))
    jobs, left = find_jobs(folders, arguments.patterns, arguments.ip)
    for script in left:
        if script.excluded is MPTCP:
            print(f"{script.name}: refused, {MPTCP.why}")
    if not jobs:
        fail(f"{', '.join(str(folder) for _, folder in folders)}: no script fits")
    libraries = Path(arguments.libraries).resolve()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda job: run(tool, libraries, job, arguments.verbose), jobs))
    width = max(len(verdict.script) for verdict in verdicts)
    for verdict in verdicts:
        said = "pass" if verdict.passed else "FAIL: " + verdict.reason
        print(f"{verdict.script:{width}}  {verdict.family:6}  {said}")
    passed = sum(verdict.passed for verdict in verdicts)
    print(f"{passed} of {len(verdicts)} runs of scripts pass")
    if arguments.out:
        write_page(Path(arguments.out), [suite for suite, _ in folders], verdicts, left)
    return 0 if passed >= 0.95 * len(verdicts) else 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="packetdrill", description="Runs packet scripts against our TCP.")
    parser.add_argument("tool", help="the packetdrill binary, or the source directory where it was built")
    parser.add_argument("--libraries", required=True, help="the directory of liblightlag_packetdrill.so")
    parser.add_argument("--selftests", help="the kernel's directory tools/testing/selftests/net/packetdrill")
    parser.add_argument("--freebsd", help="the directory of FreeBSD's suite, freebsd-net/tcp-testsuite")
    parser.add_argument("--gvisor", help="gVisor's directory test/packetdrill")
    parser.add_argument("--out", metavar="DIR", help="the directory of the page")
    parser.add_argument("--ip", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="families of addresses")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="scripts that run at the same time")
    parser.add_argument("--verbose", action="store_true", help="show the output of the tool for a script that fails")
    parser.add_argument("patterns", nargs="*", help="parts of script names")
    return parser.parse_intermixed_args()


def fail(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def find_tool(given: str) -> Path:
    place = Path(given).resolve()
    for candidate in (place, place / "packetdrill", place / "gtests/net/packetdrill/packetdrill"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    fail(
        f"{given}: no packetdrill there; build it (./configure && make in gtests/net/packetdrill) and name it: make "
        "packetdrill TOOL=..."
    )
    raise AssertionError


def find_jobs(
    folders: list[tuple[Suite, Path]], patterns: list[str], wanted: list[str]
) -> tuple[list[Job], list[Left]]:
    """Returns the runs, and the scripts that are left out. A pattern names scripts that run in any case."""
    jobs, left = [], []
    for suite, folder in folders:
        if not folder.is_dir():
            fail(f"{folder}: no such directory")
        for name in sorted(str(path.relative_to(folder)) for path in folder.rglob("*.pkt")):
            if patterns and not any(pattern in name for pattern in patterns):
                continue
            excluded = suite.exclusion(folder, name)
            if excluded is MPTCP or (excluded and not patterns):
                left.append(Left(suite.title, name, excluded))
            else:
                jobs += [Job(suite, folder, name, family) for family in families(suite, folder / name, wanted)]
    return jobs, left


if __name__ == "__main__":
    sys.exit(main())
