"""The page on satellite access: page loads with and without PEPs, and what the differences come from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lightlag_papers.table import markdown_table
from lightlag_papers.validation.measured.fact import Fact, Section, Verdict
from lightlag_papers.validation.measured.tolerances import PAGES
from lightlag_papers.validation.pages import Page

__all__ = ["satellite_page"]

COMMAND = "lightlag validate measured"

OPEN = (
    ("page", "ETSI Kepler: 75 objects, 816 kB, one host", "the same sizes, `etsi-kepler` of `presets.page_file`"),
    ("HTTP, TLS", "HTTP/1.1 without TLS for TCP; Chromium", "HTTP/1.1, 6 connections, no TLS"),
    ("delay", "125 + 125 ms (GEO), 8 + 8 ms (LEO), 40 ms to the server", "the measured round trips, 606 and 144 ms"),
    ("rate", "40 MBd with 0.49 bit per symbol forward", "18.7 Mbit/s, from the measured 18.04 Mbit/s of payload"),
    ("losses", "netem on frames to the satellite, both directions", "packets, with the same probability"),
    ("PEP", "PEPsal at gateway and terminal, initial windows of 100", "the same; buffers of 4 MB are ours"),
    (
        "congestion control",
        "open: CUBIC and Reno in the example, Reno by default",
        "CUBIC at the ends, Reno in the PEPs",
    ),
    ("browser", "discovers objects while it parses", "requests them when the document is complete, in no time"),
)


def satellite_page(section: Section) -> Page:
    """Returns the page on the rows about page loads."""
    judged = [fact for fact in section.facts if fact.verdict is not Verdict.NO_VERDICT]
    agree = section.count(Verdict.AGREES)
    result = f"{agree} of {len(judged)} facts about page loads agree within {PAGES:.0%}."
    about = f"{section.count(Verdict.NO_VERDICT)} more have no verdict: QUIC, and results not read in their source."
    parts = [
        "## Page loads\n",
        "Kosek et al. (IFIP Networking 2022) load one page over an emulated satellite, with TCP and QUIC, with and "
        "without PEPs. All rows, with the ratio after each changed setting, are on [measured paths](measured.md).\n",
        markdown_table(("quantity", "agrees", "differs", "ratio lightlag / measured"), _groups(judged)),
        "![Page load times](images/measured-pages.png)\n",
        "### Deviations\n",
        *(f"{text}\n" for text in _causes(section.facts)),
        "### Settings\n",
        markdown_table(("setting", "testbed", "here"), OPEN),
        "The authors' notebook and data, and the scripts of the testbed, state these settings: "
        "kosekmi/2022-ifip-nw-quic-proxies and kosekmi/quic-opensand-emulation on GitHub.\n",
    ]
    return Page("Satellite access", result, COMMAND, "\n".join(parts), about)


def _groups(judged: Sequence[Fact]) -> list[tuple[str, ...]]:
    """Returns a row for each quantity, with PEPs or without, in the order of the section."""
    groups: dict[str, list[Fact]] = {}
    for fact in judged:
        ends = ", with PEPs" if "TCP with PEPs" in fact.setting else ", without"
        name = fact.quantity if "without" in fact.quantity else fact.quantity + ends
        groups.setdefault(name, []).append(fact)
    rows = []
    for name, facts in groups.items():
        ratios = [fact.ratio for fact in facts if fact.ratio is not None]
        shown = f"{min(ratios):.2f} to {max(ratios):.2f}" if len(ratios) > 1 else f"{ratios[0]:.2f}"
        counts = (sum(fact.verdict is verdict for fact in facts) for verdict in (Verdict.AGREES, Verdict.DIFFERS))
        rows.append((name, *map(str, counts), shown))
    return rows


CAUSES = (
    (
        "GEO, loss 0 %, TCP with PEPs",
        "time of the complete document",
        "initial windows of PEPs 10",
        "**The window of the PEPs.** The document of 17 kB takes a second round trip between the PEPs in the testbed "
        "(532 ms from its first to its last byte), which an initial window of 100 segments saves. That window was not "
        "in effect there.",
    ),
    (
        "GEO, loss 1 %, TCP",
        "page load time",
        "losses × 4",
        "**The losses.** The testbed drops frames of OpenSAND. A frame can hold several packets, and a packet several "
        "frames; how many is open.",
    ),
    (
        "LEO, loss 0 %, TCP with PEPs",
        "page load time",
        "server time 50 ms",
        "**The time per request.** Browser, PEPsal and the frames of the satellite add time to each of about 13 "
        "requests in a row. PEPsal also opens its next connection only when the one before is complete; our proxies "
        "open it with the SYN.",
    ),
    (
        "GEO, loss 1 %, TCP, iperf3",
        "goodput",
        "losses × 1.75 and Reno at the ends",
        "**The congestion control.** It is open. Goodputs under loss are closer to Reno than to CUBIC with the same "
        "losses; CUBIC with larger losses comes as close, so the measurement does not separate the two.",
    ),
)
"""Setting and quantity of a row, the change that explains it, and the explanation."""


def _causes(facts: Sequence[Fact]) -> list[str]:
    """Returns the explanations of rows that differ, with the ratio as modelled and after the change."""
    found = []
    for setting, quantity, change, text in CAUSES:
        for fact in facts:
            if fact.setting.startswith(setting) and fact.quantity == quantity and fact.verdict is Verdict.DIFFERS:
                changed = re.search(rf"{re.escape(change)} (\d+\.\d+)", fact.reason)
                if changed is not None and fact.ratio is not None:
                    found.append(
                        f"{text} With the change *{change}* the ratio of the {quantity} ({setting}) is {changed[1]}, "
                        f"otherwise {fact.ratio:.2f}."
                    )
                break
    return found
