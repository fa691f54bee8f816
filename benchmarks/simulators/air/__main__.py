"""Runs the programs for ns-3's Wi-Fi, ad hoc routing and swarms, stores their output in the repository, and writes the
page that compares it with lightlag.

    python benchmarks/simulators/air links page swarms
    python benchmarks/simulators/air --section bbr

Run from the root of the repository after `make simulators-air` built the programs. A call executes only the runs whose
output is not stored yet. With sections it writes only these into the page.
"""

from __future__ import annotations

import argparse

import links
import page
import swarms
from kept import keep, version

PLANS = {"links": (links.runs, links.KEPT), "swarms": (swarms.runs, swarms.KEPT)}
STEPS = ("links", "page", "swarms")


def main() -> None:
    """Runs the steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"{', '.join(STEPS)}; default: all")
    parser.add_argument(
        "--section", action="append", default=[], choices=list(page.SECTIONS), help="write only this one into the page"
    )
    parser.add_argument("--ours", action="store_true", help="run only lightlag again, on the kept swarms")
    asked = parser.parse_args()
    if asked.ours:
        swarms.ours_again()
        return
    for name in asked.steps or (("page",) if asked.section else STEPS):
        if name not in STEPS:
            parser.error(f"{name} is none of {', '.join(STEPS)}")
        if name == "page":
            page.write(version("libns3-dev"), asked.section)
        else:
            runs, file = PLANS[name]
            keep(runs(), file)


if __name__ == "__main__":
    main()
