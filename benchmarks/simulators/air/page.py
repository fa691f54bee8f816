"""The page that compares lightlag with ns-3 on the air, docs/simulators-air.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import aggregates
import bianchi
import links
import ours
from compared import OUTSIDE, UNCERTAIN, Pair, deviations, error, table, verdict
from kept import Run, read

PAGE = Path("docs/simulators-air.md")
SATURATION, UDP, TCP, CHAIN_TCP, PER, DISCOVERY_MS = 0.02, 0.03, 0.05, 0.10, 0.02, 5.0
WEAK, SETTLED_S = "olsr", 10
"""Routing protocol for links with many losses, and its settling time in seconds. OLSR uses any link that carries
HELLOs, but our static routes use only links that lose less than half of all frames.
"""
Numbers = dict[str, Any]


class Sides:
    """The numbers of both simulators for the stored runs of a plan, and the complete tables of a section."""

    def __init__(self) -> None:
        self._kept = read(links.KEPT)
        self._tables: list[str] = []

    def theirs(self, runs: Iterable[Run]) -> list[Numbers]:
        """The numbers that ns-3 printed for runs."""
        return [self._kept[run.key] for run in runs]

    def pair(self, runs: Iterable[Run], of: Callable[[Numbers], float], **changed: Any) -> Pair:
        """A quantity over the seeds of runs; `changed` are keys of our medium."""
        runs = list(runs)
        return Pair([of(self._kept[run.key]) for run in runs], [of(ours.numbers(run, **changed)) for run in runs])

    def deviations(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Stores a table to be printed, and returns its part on the page."""
        self.keep(head, rows)
        return deviations(head, rows)

    def keep(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Stores a table to be printed."""
        self._tables.append(table(head, rows))

    def take(self) -> list[str]:
        """Returns the tables that were stored since the last call."""
        tables, self._tables = self._tables, []
        return tables


def write(version: str, names: Sequence[str] = ()) -> None:
    """Writes the page, or replaces some of its sections, and prints the complete tables.

    Raises
    ------
    SystemExit
        If the page lacks a section.
    """
    sides = Sides()
    sections = []
    for name in names or SECTIONS:
        sections.append(SECTIONS[name](sides))
        print(sections[-1].partition("\n")[0], *sides.take(), sep="\n\n")
    if names:
        text = PAGE.read_text("utf-8")
        for section in sections:
            text = replaced(text, section)
    else:
        text = "\n".join([HEAD.format(version=version, verdict=""), *sections])
    text = judged(text)
    PAGE.write_text(text.rstrip() + "\n", "utf-8")
    print(f"wrote {PAGE}")


def judged(page: str) -> str:
    """Returns a page whose verdict counts the rows of its tables."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    outside = sum(OUTSIDE in row for row in rows)
    uncertain = sum(UNCERTAIN in row and OUTSIDE not in row for row in rows)
    within = sum(("within" in row or "equal" in row) and UNCERTAIN not in row and OUTSIDE not in row for row in rows)
    within += sum(int(count) for count in re.findall(r"^(\d+) of \d+ rows are within ", page, re.M))
    rows_in_total = within + uncertain + outside
    verdict = (
        f"**{within} of {rows_in_total} rows agree with ns-3, or a closed form, within the tolerances.** {outside} "
    )
    verdict += f"are outside by more than two standard errors, and {uncertain} are *uncertain* (outside by less)."
    return re.sub(r"\A(# .+\n\n)(?:\*\*\d.+\n)?", lambda match: f"{match[1]}{verdict}\n", page)


def replaced(page: str, section: str) -> str:
    """Returns a page with a new section, which replaces the section with the same heading."""
    heading, _, _ = section.partition("\n")
    before, found, rest = f"\n{page}".partition(f"\n{heading}\n")
    if not found:
        raise SystemExit(f"{PAGE}: has no section {heading!r}; write the complete page")
    _, following, after = rest.partition("\n## ")
    return f"{before}\n{section.rstrip()}\n{following}{after}".removeprefix("\n")


def _goodput(numbers: Numbers) -> float:
    goodput = numbers["goodput_mbps"]
    return sum(goodput) if isinstance(goodput, list) else float(goodput)


def _saturation(sides: Sides) -> str:
    runs = [run for run in links.saturation() if "mode" not in run.options]

    def of(standard: str, stations: int, retries: int) -> list[Run]:
        wanted = {"standard": standard, "stations": stations, "retries": retries}
        return [run for run in runs if wanted.items() <= run.options.items()]

    rows, closed, drops = [], [], []
    for standard, name in (("a", "DCF"), ("n", "EDCA")):
        for stations in links.STATIONS:
            pair = sides.pair(of(standard, stations, links.UNLIMITED), _goodput)
            failed = sides.pair(of(standard, stations, links.UNLIMITED), lambda n: n["failed"] / n["attempts"])
            rows.append(
                [
                    name,
                    str(stations),
                    *pair.cells(SATURATION),
                    f"{fmean(failed.theirs):.3f}",
                    f"{fmean(failed.ours):.3f}",
                    verdict(abs(fmean(failed.theirs) - fmean(failed.ours)), 0.015),
                ]
            )
            if standard == "a":
                formula, goodput = bianchi.goodput(stations), fmean(pair.ours)
                together, apart = (bianchi.played(stations, together=how) for how in (True, False))
                closed.append(
                    [
                        str(stations),
                        f"{formula:.2f}",
                        f"{goodput:.2f}",
                        f"{goodput / formula:.3f}",
                        verdict(abs(goodput / formula - 1), SATURATION),
                        f"{together:.2f}",
                        f"{apart:.2f}",
                        f"{goodput / apart:.3f}",
                        verdict(abs(goodput / apart - 1), SATURATION),
                    ]
                )
            if stations > 2:
                limited = sides.pair(of(standard, stations, 7), lambda n: n["given_up"] / (n["acked"] + n["given_up"]))
                p = fmean(failed.ours)
                tried = [ours.numbers(run) for run in of(standard, stations, 7)]
                share = fmean(n["given_up_after_retries"] / (n["acked"] + n["given_up"]) for n in tried)
                drops.append(
                    [
                        name,
                        str(stations),
                        f"{p**7:.5f}",
                        f"{share:.5f}",
                        "within" if p**7 / 2 <= share <= p**7 * 2 else "**outside**",
                        f"{fmean(limited.theirs):.5f}",
                        f"{fmean(limited.ours):.5f}",
                    ]
                )
    head = [
        "access",
        "stations",
        "Mbit/s, ns-3",
        "ours",
        "ratio",
        "2 %",
        "failed attempts, ns-3",
        "ours",
        "0.015 (failed)",
    ]
    formula_head = [
        "stations",
        "closed form",
        "ours",
        "ratio",
        "2 %",
        "chain, same time",
        "chain, ACK timeout",
        "ours to it",
        "2 %",
    ]
    return "\n".join(
        [
            "## Saturation\n",
            "Stations on a circle of 5 m, 1500 B, 24 Mbit/s, unlimited retries (ours: 255); DCF of 802.11a, best effort of EDCA in",
            "802.11n.\n",
            sides.deviations(head, rows),
            "In Bianchi's closed form all stations continue simultaneously after a collision. In ns-3 and lightlag the colliding",
            "stations first wait 45 us for an ACK; the others, without a preamble, continue after DIFS. A simulation of the closed",
            "form's Markov chain (`benchmarks/simulators/air/bianchi.py`) attributes the difference to this rule.\n",
            sides.deviations(formula_head, closed),
            "With seven attempts: the fraction of dropped frames, and p^7, where p is the fraction of failed attempts.\n",
            sides.deviations(
                ["access", "stations", "p^7", "ours", "a factor of 2", "with expired frames, ns-3", "ours"], drops
            ),
            aggregates.text(sides, _goodput, SATURATION),
        ]
    )


def _distance(sides: Sides) -> str:
    runs = list(links.distance())
    rows = []
    outside = 0
    for errors in ("nist", "yans", "table"):
        for preamble in (1, 0):
            for gap in links.DISTANCES:
                wanted = {"errors": errors, "preamble": preamble, "gap": gap}
                udp, tcp = (
                    [r for r in runs if wanted.items() <= r.options.items() and r.options["traffic"] == kind]
                    for kind in ("udp", "tcp")
                )
                goodput, reliable, lost = (
                    sides.pair(asked, of, start=SETTLED_S, routing=WEAK)
                    for asked, of in ((udp, _goodput), (tcp, _goodput), (udp, _lost))
                )
                apart = abs(fmean(lost.theirs) - fmean(lost.ours))
                wide = (error(lost.theirs) ** 2 + error(lost.ours) ** 2) ** 0.5
                verdicts = (goodput.verdict(UDP), verdict(apart, PER, wide), reliable.verdict(TCP))
                outside += sum(text in (OUTSIDE, UNCERTAIN) for text in verdicts)
                if preamble or gap > links.DETECTED_M:
                    rows.append(
                        [
                            errors,
                            "yes" if preamble else "no",
                            str(gap),
                            *goodput.cells(UDP),
                            f"{fmean(lost.theirs):.3f}",
                            f"{fmean(lost.ours):.3f}",
                            verdicts[1],
                            *reliable.cells(TCP),
                        ]
                    )
    head = ["errors", "detection", "m", "UDP, ns-3", "ours", "ratio", "3 %", "PER, ns-3", "ours", "0.02 (PER)"]
    head += ["NewReno, ns-3", "ours", "ratio", "5 %"]
    alone = []
    for errors, preamble, gap in links.LOSSY:
        udp, tcp = (
            sides.pair(
                (links.lossy(kind, errors, preamble, gap, seed) for seed in links.LOSSY_SEEDS),
                _goodput,
                start=SETTLED_S,
                routing=WEAK,
            )
            for kind in ("udp", "tcp")
        )
        alone.append([errors, str(gap), *udp.cells(UDP, 3), *tcp.cells(TCP, 3)])
    cells = 3 * 2 * 3 * len(links.DISTANCES)
    return "\n".join(
        [
            "## One link by its length\n",
            "16 dBm, path loss exponent 3, 24 Mbit/s; 20 Mbit/s of UDP for 5 s, and ns-3's NewReno. Preambles are detected above -82",
            f"dBm ({links.DETECTED_M} m), or always. lightlag uses OLSR, starting at 10 s, because its static routes need links that lose less than",
            f"half of all frames. {cells - outside} of {cells} cells are within their tolerances.\n",
            sides.deviations(head, rows),
            "Frame error rates agree everywhere. Where more than half of the frames are lost, overloaded UDP differs: ns-3 negotiates",
            "block acknowledgements, and after each dropped frame a request has to reach the receiver. Without negotiation",
            f"(`BE_MaxAmpduSize = 0`), {len(links.LOSSY_SEEDS)} seeds:\n",
            sides.deviations(
                ["errors", "m", "UDP, ns-3", "ours", "ratio", "3 %", "NewReno, ns-3", "ours", "ratio", "5 %"], alone
            ),
            "0.001 is a few datagrams in all runs. At 70 m the cause is our fit to ns-3's table",
            "(`crates/lightlag-wifi/src/phy/error_model/table.rs`): at 7.98 dB ns-3 loses 0.9956 of the frames, lightlag 0.987. No",
            "switch removes this difference.\n",
        ]
    )


def _lost(numbers: Numbers) -> float:
    """Returns the fraction of attempts lost to noise. lightlag counts them; in ns-3 they are the attempts without an
    ACK.
    """
    if "attempts" in numbers:
        attempts = numbers["attempts"]
        return 1 - numbers["received"] / attempts if attempts else 1.0
    attempts = numbers["acked_frames"] + numbers["failed_attempts"]
    return numbers["failed_attempts"] / attempts if attempts else 1.0


def _hidden(sides: Sides) -> str:
    runs = list(links.hidden())
    rows, endless = [], []
    for size in (100, 250, 500, 1000, 1500):
        for rts in (65535, 1):
            asked = [r for r in runs if {"size": size, "rts": rts}.items() <= r.options.items()]
            pair = sides.pair(asked, _goodput)
            given_up = sides.pair(asked, lambda n: n["given_up"])
            counts = [f"{fmean(given_up.theirs):.0f}", f"{fmean(given_up.ours):.0f}"]
            access = "RTS" if rts == 1 else "basic"
            rows.append([str(size), access, *counts, *pair.cells(UDP)])
            if rts == 1:
                endless.append([str(size), *sides.pair(asked, _goodput, max_attempts=255).cells(UDP)])
    unequal = sides.pair([r for r in runs if "other" in r.options], _goodput)
    dropped = [_span(int(row[column]) for row in rows if row[1] == "RTS") for column in (2, 3)]
    head = ["B", "access", "dropped, ns-3", "ours", "Mbit/s, ns-3", "ours", "ratio", "3 %"]
    return "\n".join(
        [
            "## A hidden pair\n",
            "Two saturated stations, 40 m on either side of their receiver, cannot detect each other; seven attempts.\n",
            sides.deviations(head, rows),
            f"With RTS lightlag drops {dropped[1]} frames and ns-3 {dropped[0]}: ns-3 counts failed RTS as short retries but tests the long",
            "ones (`NeedRetransmission` of a frame above the threshold); lightlag drops the frame after seven (IEEE 802.11-2020",
            "§10.23.2.12). With 255 attempts in lightlag the difference disappears:",
            "",
            sides.deviations(["B", "Mbit/s, ns-3", "ours, 255 attempts", "ratio", "3 %"], endless),
            "Unequal power, one station 15 dB stronger; basic access, 1500 B:\n",
            table(["Mbit/s, ns-3", "ours", "ratio", "3 %"], [unequal.cells(UDP)]),
        ]
    )


def _span(values: Iterable[int]) -> str:
    """The range of values.

    Examples
    --------
    >>> _span([3, 1, 2])
    '1 to 3'
    """
    known = sorted(values)
    return f"{known[0]} to {known[-1]}"


def _detection(detection: dict[str, float]) -> str:
    return f"{detection.get('preamble-dbm', -82)} dBm"


def _transports(sides: Sides, hops: int, runs: Callable[[str], list[Run]]) -> list[str]:
    row = []
    for traffic, tolerance in (("udp", UDP), ("tcp", TCP if hops == 1 else CHAIN_TCP)):
        row += sides.pair(runs(traffic), _goodput).cells(tolerance)
    return row


TRANSPORTS = ["UDP, ns-3", "ours", "ratio", "3 %", "NewReno, ns-3", "ours", "ratio", "10 %"]


def _agreed(sides: Sides, runs: Iterable[Run]) -> Pair:
    """Goodput with ns-3's negotiation of block acknowledgements on both sides."""
    return sides.pair(runs, _goodput, block_ack_agreement="ns3")


def _chains(sides: Sides) -> str:
    rows = [
        [
            _detection(detection),
            str(hops),
            *_transports(sides, hops, lambda traffic, at=detection, hops=hops: links.static_chains(traffic, at, hops)),
        ]
        for detection in links.DETECTION
        for hops in links.HOPS
    ]
    agreed = []
    for hops in links.HOPS:
        without = sides.pair(links.static_chains("udp", {}, hops), _goodput)
        agreed.append(
            [
                str(hops),
                *_agreed(sides, (links.agreeing(hops, seed) for seed in links.AGREEING_SEEDS)).cells(UDP),
                f"{fmean(without.theirs):.2f} ± {error(without.theirs):.2f}",
            ]
        )
    return "\n".join(
        [
            "## Chains over static routes\n",
            f"Nodes 40 m apart, 802.11n with data at 24 Mbit/s, 10 s; 20 Mbit/s of UDP. Preamble detection above -82 dBm ({len(links.HIDDEN_SEEDS)} seeds)",
            f"hides nodes two hops away; above -101 dBm and 4 dB SNR ({len(links.CHAIN_SEEDS)} seeds) they are detected. ns-3 has `BE_MaxAmpduSize = 0`: no",
            "block acknowledgements.\n",
            sides.deviations(["detection", "hops", *TRANSPORTS], rows),
            "ns-3's default negotiates them, although frames at an OFDM rate are never aggregated. While requests after dropped",
            'frames are lost, nothing is delivered in order. `block_ack_agreement = "ns3"` does the same in lightlag. UDP, -82 dBm,',
            f"{len(links.AGREEING_SEEDS)} seeds, all addresses known, because a lost ARP request costs one second in both:\n",
            sides.deviations(
                ["hops", "ns-3, negotiated", "ours, negotiated", "ratio", "3 %", "ns-3, not negotiated"], agreed
            ),
        ]
    )


def _discovery(sides: Sides) -> str:
    runs = list(links.discovery())
    rows = []
    for hello in (0, 1):
        for hops in links.HOPS:
            asked = [r for r in runs if {"hops": hops, "hello": hello}.items() <= r.options.items()]
            delay, requests = (sides.pair(asked, lambda n, key=key: n[key]) for key in ("first_delay_ms", "rreq"))
            apart = abs(fmean(delay.theirs) - fmean(delay.ours))
            wide = (error(delay.theirs) ** 2 + error(delay.ours) ** 2) ** 0.5
            row = [
                "HELLO, ARP" if hello else "neither",
                str(hops),
                f"{fmean(delay.theirs):.1f} ± {error(delay.theirs):.1f}",
                f"{fmean(delay.ours):.1f} ± {error(delay.ours):.1f}",
                verdict(apart, DISCOVERY_MS, wide),
                f"{fmean(requests.theirs):g}",
                f"{fmean(requests.ours):g}",
            ]
            replies = sides.pair(asked, lambda n: n["rrep"])
            row += ["–", "–"] if hello else [f"{fmean(replies.theirs):g}", f"{fmean(replies.ours):g}"]
            counts = [requests] if hello else [requests, replies]
            row.append("equal" if all(c.theirs == c.ours for c in counts) else "–" if hello else "**outside**")
            rows.append(row)
    head = ["with", "hops", "ms, ns-3", "ours", "5 ms", "RREQ, ns-3", "ours", "RREP, ns-3", "ours", "equal counts"]
    return "\n".join(
        [
            "## The first packet over AODV\n",
            f"An idle chain, one datagram of 1472 B, {len(links.DISCOVERY_SEEDS)} seeds. Without HELLO the message counts have to be equal in every run; with",
            "HELLO and ARP they depend on the neighbour tables. In ns-3 one run over two hops and one over four lose an ARP request,",
            "which costs one second.\n",
            sides.deviations(head, rows),
        ]
    )


HABITS = {
    "`errors`": ("errors",),
    "`proof`": ("proof",),
    "`release_on`": ("release_on",),
    "`route_messages`": ("route_messages",),
    "`blacklist_timeout`": ("blacklist_timeout",),
    "sequence numbers and reverse routes": ("increment_on_break", "revive_reverse_route"),
}


def _aodv(sides: Sides) -> str:
    rows, blind, without, errors = [], [], [], []
    for hops in links.HOPS:
        seeds = links.searching_seeds(hops)
        searching = {kind: [links.searching(kind, hops, seed) for seed in seeds] for kind in ("udp", "tcp")}
        rows.append([str(hops), *_transports(sides, hops, lambda kind, asked=searching: asked[kind])])
        if hops > 1:
            habits = ours.NS3_AODV | {"hello": "always"}
            sets = [{key: habits[key] for key in habits if key not in keys} for keys in HABITS.values()]
            both = []
            for kind, name in (("udp", "UDP"), ("tcp", "NewReno")):
                pairs = [sides.pair(searching[kind], _goodput, routing=kept) for kept in (habits, *sets, "aodv")]
                both.append([f"{pair.ratio:.2f}" for pair in pairs])
                errors.append([str(hops), name, *(f"{pair.ratio:.2f} ± {pair.error:.2f}" for pair in pairs)])
            without.append([str(hops), *map("/".join, zip(*both, strict=True))])
    rules = ["all", *(f"no {name}" for name in HABITS), "none"]
    sides.keep(["hops", "", *rules], errors)
    light = [
        [
            str(hops),
            *(
                cell
                for routing in ("static", "aodv")
                for cell in _agreed(sides, (links.light(hops, routing, seed) for seed in links.LIGHT_SEEDS)).cells(UDP)
            ),
        ]
        for hops in links.HOPS
    ]
    for hops in links.BLIND_HOPS:
        known = sides.pair((links.searching("udp", hops, seed, arp=0) for seed in links.CHAIN_SEEDS), _goodput)
        asked = sides.pair((links.searching("udp", hops, seed) for seed in links.CHAIN_SEEDS), _goodput)
        static = sides.pair(links.static_chains("udp", {}, hops), _goodput)
        blind.append(
            [str(hops), *(f"{fmean(of.theirs):.2f} ± {error(of.theirs):.2f}" for of in (asked, known, static))]
        )
    overloaded = []
    for hops in links.OVERLOADED_HOPS:
        above, alone = (
            sides.pair((links.overloaded(hops, seed, is_above=one) for seed in links.OVERLOADED_SEEDS), _goodput)
            for one in (True, False)
        )
        overloaded.append([str(hops), f"{fmean(above.theirs):.2f} ± {error(above.theirs):.2f}", *alone.cells(UDP)])
    return "\n".join(
        [
            "## Chains over AODV\n",
            'As above, -82 dBm, HELLO and ARP, with the rules of ns-3\'s AODV: `link_break_on = "any"`, `release_on = "reply"`,',
            "`drop_returning = true`, `increment_on_expiry = false`, `increment_on_break = false`, `revive_reverse_route = false`,",
            '`errors = "ns3"`, `proof = "forwarded"`, `route_messages = true`, `blacklist_timeout = "0 s"`; '
            f"{len(links.SEARCHING_SEEDS)} seeds, over one hop {len(links.CHAIN_SEEDS)}.\n",
            sides.deviations(["hops", *TRANSPORTS], rows),
            f"With 1 Mbit/s of UDP and ns-3's default block ack agreements in both, {len(links.LIGHT_SEEDS)} seeds. Packets that wait for a route are sent",
            "in one burst, which breaks links; some runs find no route within 10 s:\n",
            sides.deviations(
                ["hops", "static, ns-3", "ours", "ratio", "3 %", "AODV, ns-3", "ours", "ratio", "3 %"], light
            ),
            "From three hops the load constantly breaks links, and the result depends on how soon the source is notified. lightlag",
            "has a [switch for each rule of ns-3](models/routing.md). Ratios to ns-3 with all rules, without one, and with none (RFC",
            f"3561), for UDP/NewReno; standard errors are up to {_largest(errors, 'UDP')}/{_largest(errors, 'NewReno')}:\n",
            table(["hops", *rules], without),
            "- `errors`: an ns-3 relay sends a RERR for each packet without a route, thousands in 10 s; RFC 3561 allows ten per",
            "  second.",
            "- `proof`: a dropped frame breaks ns-3's link only to an expected neighbour; forwarded data and unicast RERRs extend the",
            "  expectation.",
            "- `release_on`: a reply or the end of a ring releases waiting packets, and later packets overtake them.",
            "- `route_messages`: RREP-ACKs, RREPs and RERRs use the route to the neighbour, and wait for a new RREQ after a break.",
            "  The hop limit of an RREP is its hop count; otherwise RREPs circulate in the routing loops that ns-3's sequence numbers",
            "  and reverse routes permit.",
            "- `blacklist_timeout`: ns-3 never starts this timer. lightlag ignores a neighbour for 5.6 s if its RREP-ACK waits for a",
            "  route.",
            "- sequence numbers and reverse routes: `increment_on_break` and `revive_reverse_route`.\n",
            "With none, one of 240 runs over two hops delivers nothing (ns-3 and all rules: no run): the replies to the relay's four",
            "ARP requests collide with data of the hidden source, and its ARP entry is dead for 100 s.\n",
            "ns-3's AODV looks up the neighbour of a dropped frame in the ARP cache. If the cache is filled in advance, the look-up",
            "fails, no link ever breaks, and UDP is as over static routes. All values are ns-3's:\n",
            table(["hops", "ARP", "addresses known", "static routes"], blind),
            "Where nodes two hops away are detected (-101 dBm) and broadcasts reach no further than data (24 Mbit/s), frames of an",
            "overloaded source expire after 500 ms, and each expiry breaks the link, in both. ns-3 has a second queue above the",
            "station's: FqCoDel with 10,240 packets, stopped while the other is full. Its packets go to the neighbour of the old",
            "route, expire, and break the new one. lightlag has no such queue. 20 Mbit/s of UDP, "
            f"{len(links.OVERLOADED_SEEDS)} seeds:\n",
            sides.deviations(["hops", "with FqCoDel, ns-3", "without, ns-3", "ours", "ratio", "3 %"], overloaded),
        ]
    )


def _largest(rows: Iterable[Sequence[str]], name: str) -> str:
    """The largest standard error in the rows of a transport."""
    return max(cell.partition(" ± ")[2] for row in rows if row[1] == name for cell in row[2:])


def _bytes(numbers: Numbers) -> float:
    return float(numbers["routing_bytes"])


def _proactive(sides: Sides) -> str:
    rows, paper = [], []
    for hops in (2, 4, 8):
        for routing in ("olsr", "dsdv"):
            asked = [r for r in links.proactive() if {"hops": hops, "routing": routing}.items() <= r.options.items()]
            goodput = sides.pair(asked, _goodput)
            size = sides.pair(asked, _bytes)
            rows.append([routing, str(hops), *goodput.cells(UDP), *size.cells(CHAIN_TCP, 0)])
            if routing == "dsdv":
                paper.append([str(hops), *sides.pair(asked, _bytes, routing="dsdv").cells(CHAIN_TCP, 0)])
    head = ["routing", "hops", "UDP, ns-3", "ours", "ratio", "3 %", "bytes of routing, ns-3", "ours", "ratio", "10 %"]
    quiet = sides.pair((links.untriggered(seed) for seed in links.PROACTIVE_SEEDS), _bytes, routing="dsdv")
    return "\n".join(
        [
            "## OLSR and DSDV\n",
            f"Chains with ARP and 1 Mbit/s of UDP after convergence, at 40 s (OLSR) and 60 s (DSDV), {len(links.PROACTIVE_SEEDS)} seeds.",
            '`crates/lightlag-sim/tests/scenarios/chains.rs` tests when routes exist. DSDV has ns-3\'s rules (`advertise = "newer"`,',
            '`first_dump = "1 ms"`).\n',
            sides.deviations(head, rows),
            "ns-3's DSDV immediately advertises each newer sequence number, even if hops and next hop stay the same. Without this",
            "rule lightlag waits for the next dump (Perkins and Bhagwat 1994: no significant change):\n",
            sides.deviations(["hops", "bytes of routing, ns-3", "ours, without these rules", "ratio", "10 %"], paper),
            f"With ns-3's updates between dumps delayed beyond the end of the run, its routing bytes over two hops are {fmean(quiet.theirs):.0f}, ours {fmean(quiet.ours):.0f}.\n",
        ]
    )


def _bbr(sides: Sides) -> str:
    rows = []
    for hops in links.HOPS:
        newreno = sides.pair(links.static_chains("tcp", links.DETECTION[1], hops), _goodput)
        for ack_every in (1, 2):
            asked = [links.bbr(hops, ack_every, seed) for seed in links.BBR_SEEDS]
            pair = sides.pair(asked, _goodput, variant="ns3")
            linux = sides.pair(asked, _goodput).ours
            share = fmean(linux) / fmean(newreno.ours)
            rows.append(
                [
                    str(hops),
                    "each" if ack_every == 1 else "second",
                    *pair.cells(TCP if hops == 1 else CHAIN_TCP),
                    f"{fmean(linux):.2f} ± {error(linux):.2f}",
                    f"{fmean(pair.theirs) / fmean(newreno.theirs):.2f}",
                    f"{share:.2f}",
                    ("within" if share >= 0.8 else "**outside**") if hops == 1 else "–",
                ]
            )
    head = ["hops", "segments acknowledged", "BBR, ns-3", 'ours, `variant = "ns3"`', "ratio", "5 %, 10 % on chains"]
    head += ["ours, Linux's rules", "fraction of NewReno, ns-3", "ours, Linux's rules", "80 % at one hop"]
    return "\n".join(
        [
            "## BBR\n",
            f"Chains over static routes, preamble detection above -101 dBm, 10 s, {len(links.BBR_SEEDS)} seeds. ns-3.37's BBR estimates a rate of n/(n+1)",
            "from n ACKs in a flight, so it starves with an ACK for every second segment. The variant `ns3` follows it ([its",
            "page](reference/algorithms/bbr.md)); the default follows Linux and does not depend on the ACK policy. The decline starts",
            "at random, so seeds differ much.\n",
            sides.deviations(head, rows),
        ]
    )


SECTIONS: dict[str, Callable[[Sides], str]] = {
    "saturation": _saturation,
    "distance": _distance,
    "hidden": _hidden,
    "chains": _chains,
    "discovery": _discovery,
    "aodv": _aodv,
    "proactive": _proactive,
    "bbr": _bbr,
}
"""The sections, in the order of the page."""

HEAD = """# Comparison with ns-3: Wi-Fi and ad hoc routing

{verdict}
The tables have the other rows; the text names the known causes and the switches that remove a difference.

lightlag and ns-3.37 (Debian's {version}) run with the same settings. `benchmarks/simulators/ns3/air-*.cc` are the programs,
`benchmarks/simulators/ns3/air.json` stores their output, and `make simulators-air` writes this page and prints the
complete tables. ± is the standard error over the seeds; ratios are lightlag's value divided by ns-3's. The tolerances
were set in advance: saturation 2 %, UDP 3 %, NewReno 5 % on one link and 10 % on chains, loss of frames 0.02, discovery
5 ms.
"""
