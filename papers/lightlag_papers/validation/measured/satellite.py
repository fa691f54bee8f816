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
    (
        "forward link",
        "40 MBd, QPSK 1/4, GSE in frames of up to 2,001 B",
        "the same, with 38.6 MBd from the measured 18.04 Mbit/s of payload; label of 6 B is ours",
    ),
    (
        "return link",
        "DVB-RCS2: 100 kbit/s constant, up to 5.12 Mbit/s requested by rate (RBDC) each second; 26.5 ms per frame",
        "the same rates, period, MSL and rule of requests; bursts of 223 B: 536 symbols of 16QAM 5/6",
    ),
    (
        "losses",
        "netem on IP packets with frames to the satellite, both directions",
        "frames forward, with either of two IP packets, and bursts return; the receiver keeps five units after a loss",
    ),
    (
        "PEP",
        "PEPsal at gateway and terminal: connects after `accept`, reads up to 8 KiB, with Nagle's algorithm",
        "the same; it runs 50 µs after an event, and its buffers of 4 MB are ours",
    ),
    ("initial window of the PEPs", "100 segments", "100 segments; receive buffers with Linux's automatic size"),
    (
        "congestion control",
        "open: CUBIC and Reno in the example, Reno by default",
        "Reno",
    ),
    ("browser", "discovers objects while it parses", "requests them when the document is complete, in no time"),
)


def satellite_page(section: Section) -> Page:
    """Returns the page on the rows about page loads."""
    judged = [fact for fact in section.facts if fact.verdict is not Verdict.NO_VERDICT]
    agree = section.count(Verdict.AGREES)
    result = f"{agree} of {len(judged)} facts about page loads agree within {PAGES:.0%}."
    about = f"{section.count(Verdict.NO_VERDICT)} more have no verdict: they were not read in their source."
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


def _ends(setting: str) -> str:
    """Returns the transport of a setting if it is QUIC, or whether it has PEPs."""
    if ", QUIC" in setting:
        return setting[setting.index(", QUIC") :]
    return ", with PEPs" if "TCP with PEPs" in setting else ", without"


def _groups(judged: Sequence[Fact]) -> list[tuple[str, ...]]:
    """Returns a row for each quantity, with PEPs or without, in the order of the section."""
    groups: dict[str, list[Fact]] = {}
    for fact in judged:
        name = fact.quantity if "without" in fact.quantity else fact.quantity + _ends(fact.setting)
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
        "GEO, loss 1 %, QUIC",
        "page load time",
        "one IP packet per frame",
        "**Losses with QUIC.** A page over QUIC has one connection, and its window reacts to each loss.",
    ),
    (
        "GEO, loss 0.1 %, TCP, iperf3",
        "goodput",
        "CUBIC at the ends",
        "**The congestion control.** It is open: CUBIC in the example of the repository, Reno by default. With losses "
        "of 0.1 and 1 %, goodputs are closer to Reno, with 0.01 % closer to CUBIC.",
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
