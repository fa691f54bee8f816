"""Runs the programs for ns-3's Wi-Fi, ad hoc routing and swarms, and keeps what they print in the repository.

    python benchmarks/peers/air links swarms

Run from the root of the repository after `make peers-air` built the programs. A call runs what is not kept yet.
"""

from __future__ import annotations

import argparse

import links
import swarms
from kept import keep

PLANS = {"links": (links.runs, links.KEPT), "swarms": (swarms.runs, swarms.KEPT)}


def main() -> None:
    """Runs a plan."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plans", nargs="*", default=list(PLANS), metavar="PLAN", help=f"of {', '.join(PLANS)}")
    for name in parser.parse_args().plans:
        if name not in PLANS:
            parser.error(f"{name} is none of {', '.join(PLANS)}")
        runs, file = PLANS[name]
        keep(runs(), file)


if __name__ == "__main__":
    main()
