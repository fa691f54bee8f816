"""The page that compares lightlag with ns-3 on the air, docs/peers-air.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import aggregates
import bianchi
import links
import ours
from compared import Pair, error, table, verdict
from kept import Run, read

PAGE = Path("docs/peers-air.md")
SATURATION, UDP, TCP, CHAIN_TCP, PER, DISCOVERY_MS = 0.02, 0.03, 0.05, 0.10, 0.02, 5.0
WEAK, SETTLED_S = "olsr", 10
"""Static routes of ours lead over links that lose less than half of all frames, those of OLSR over any that carry HELLOs."""
Numbers = dict[str, Any]


class Sides:
    """The numbers of both simulators for the runs of a plan that are kept."""

    def __init__(self) -> None:
        self._kept = read(links.KEPT)

    def theirs(self, runs: Iterable[Run]) -> list[Numbers]:
        """The numbers that ns-3 printed for runs."""
        return [self._kept[run.key] for run in runs]

    def pair(self, runs: Iterable[Run], of: Callable[[Numbers], float], **changed: Any) -> Pair:
        """A quantity over the seeds of runs; `changed` are keys of our medium."""
        runs = list(runs)
        return Pair([of(self._kept[run.key]) for run in runs], [of(ours.numbers(run, **changed)) for run in runs])


def write(version: str, names: Sequence[str] = ()) -> None:
    """Writes the page, or these of its sections anew into the page as it is.

    Raises
    ------
    SystemExit
        If the page lacks a section.
    """
    sides = Sides()
    if names:
        text = PAGE.read_text("utf-8")
        for name in names:
            text = replaced(text, SECTIONS[name](sides))
    else:
        text = "\n".join([HEAD.format(version=version), *(section(sides) for section in SECTIONS.values())])
    PAGE.write_text(text.rstrip() + "\n", "utf-8")
    print(f"wrote {PAGE}")


def replaced(page: str, section: str) -> str:
    """A page with a section in place of the one with the same heading, which ends at the next heading of its level."""
    heading, _, _ = section.partition("\n")
    before, found, rest = f"\n{page}".partition(f"\n{heading}\n")
    if not found:
        raise SystemExit(f"{PAGE}: has no section {heading!r}; write the whole page")
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
    head = ["access", "stations", "Mbit/s, ns-3", "ours", "ratio", "2 %", "share that fails, ns-3", "ours", "0.015"]
    formula_head = ["stations", "closed form", "ours", "ratio", "2 %", "played, together", "apart", "ours to it", "2 %"]
    return "\n".join(
        [
            "## Saturation\n",
            "Stations on a circle of 5 m, 1500 B, 24 Mbit/s, unlimited retries (ours: 255); DCF of 802.11a, and the best",
            "effort of EDCA of 802.11n.\n",
            table(head, rows),
            "Bianchi's closed form lets all stations go on together after a collision. Here, as in ns-3, those who collided",
            "wait 45 us for an ACK first, while the others, who can tell no preamble of equal ones, go on after DIFS. The chain",
            "behind the form, played out station by station (`benchmarks/peers/air/bianchi.py`), has both: that switch is the",
            "difference.\n",
            table(formula_head, closed),
            "With seven tries, the share of frames that are given up after them, beside p^7 with the p above (tolerance: twice, or",
            "half). ns-3 counts with them those that waited for more than 500 ms; so does the last column.\n",
            table(
                ["access", "stations", "p^7", "ours", "twice, or half", "with those that waited, ns-3", "ours"], drops
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
                outside += sum("outside" in text for text in verdicts)
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
    head = ["errors", "detection", "m", "UDP, ns-3", "ours", "ratio", "3 %", "PER, ns-3", "ours", "0.02"]
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
            "16 dBm, exponent 3, 24 Mbit/s; UDP that asks for 20 Mbit/s, 5 s, and NewReno of ns-3. Preambles are detected",
            f"from -82 dBm on, or all are ({links.DETECTED_M} m are -82 dBm; shorter links do not differ in it, and are left out",
            "here). Our static routes lead over links alone that lose less than half of all frames, so ours are OLSR's, from 10 s on.",
            f"{cells - outside} of {cells} cells are within their tolerances.\n",
            table(head, rows),
            "Losses of frames agree everywhere. Where more than half are lost, UDP that asks for more than there is differs:",
            "stations of ns-3 agree on block acknowledgements, and each frame that is given up takes a request for one to the",
            f"receiver. With `BE_MaxAmpduSize = 0` they agree on none; {len(links.LOSSY_SEEDS)} seeds:\n",
            table(["errors", "m", "UDP, ns-3", "ours", "ratio", "3 %", "NewReno, ns-3", "ours", "ratio", "5 %"], alone),
            "0.001 is a few datagrams in all runs together. At 70 m the cause is `table`, a fit to that of ns-3, which errs where",
            "it ends (`crates/lightlag-wifi/src/phy/error_model/table.rs`): at 7.98 dB ns-3 loses 0.9956 of the frames, ours 0.987.",
            "There is no switch for it.\n",
        ]
    )


def _lost(numbers: Numbers) -> float:
    """The share of the attempts that noise destroyed; ours counts them, ns-3's are those without an ACK."""
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
            dropped = [f"{fmean(given_up.theirs):.0f}", f"{fmean(given_up.ours):.0f}"]
            access = "RTS" if rts == 1 else "basic"
            rows.append([str(size), access, *dropped, *pair.cells(UDP)])
            if rts == 1:
                endless.append([str(size), *sides.pair(asked, _goodput, tries=255).cells(UDP)])
    unequal = sides.pair([r for r in runs if "other" in r.options], _goodput)
    head = ["B", "access", "given up, ns-3", "ours", "Mbit/s, ns-3", "ours", "ratio", "3 %"]
    return "\n".join(
        [
            "## A hidden pair\n",
            "Two stations 40 m on either side of their receiver, deaf to one another, always busy, seven tries.\n",
            table(head, rows),
            "ns-3 gives up nothing behind an RTS: it counts requests that fail as short retries and looks at the long ones",
            "(`NeedRetransmission` of a frame above the threshold). Ours gives up after seven (IEEE 802.11-2020 §10.23.2.12).",
            "With 255 tries here the difference is gone:\n",
            table(["B", "Mbit/s, ns-3", "ours, 255 tries", "ratio", "3 %"], endless),
            "A pair of which one is 15 dB stronger, basic access, 1500 B:\n",
            table(["Mbit/s, ns-3", "ours", "ratio", "3 %"], [unequal.cells(UDP)]),
        ]
    )


def _detection(detection: dict[str, float]) -> str:
    return f"{detection.get('preamble-dbm', -82)} dBm"


def _transports(sides: Sides, hops: int, runs: Callable[[str], list[Run]]) -> list[str]:
    row = []
    for traffic, tolerance in (("udp", UDP), ("tcp", TCP if hops == 1 else CHAIN_TCP)):
        row += sides.pair(runs(traffic), _goodput).cells(tolerance)
    return row


TRANSPORTS = ["UDP, ns-3", "ours", "ratio", "3 %", "NewReno, ns-3", "ours", "ratio", "10 %"]


def _agreed(sides: Sides, runs: Iterable[Run]) -> Pair:
    """Goodput with ns-3's agreements on block acknowledgements on both sides."""
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
            "Nodes 40 m apart, 802.11n with data at 24 Mbit/s, 10 s; UDP asks for 20 Mbit/s. With preambles from -82 dBm on",
            f"({len(links.HIDDEN_SEEDS)} seeds) nodes two hops apart do not hear one another; from -101 dBm and 4 dB on",
            f"({len(links.CHAIN_SEEDS)} seeds) they do. Stations of ns-3 have `BE_MaxAmpduSize = 0` here, so they agree on no block",
            "acknowledgements.\n",
            table(["detection", "hops", *TRANSPORTS], rows),
            "With ns-3's default they agree, though no frame at a rate of OFDM is ever aggregated. Each frame that is given up",
            "then takes a request to the receiver, and while those are lost nothing is delivered in order. Ours does the same with",
            f'`block_ack_agreement = "ns3"`. UDP, -82 dBm, {len(links.AGREEING_SEEDS)} seeds, all addresses known (a request of ARP',
            "that is lost costs a second, in both, and seeds then differ much):\n",
            table(["hops", "ns-3, agreed", "ours, agreed", "ratio", "3 %", "ns-3, not agreed"], agreed),
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
    head = ["with", "hops", "ms, ns-3", "ours", "5 ms", "RREQ, ns-3", "ours", "RREP, ns-3", "ours", "counts"]
    return "\n".join(
        [
            "## The first packet over AODV\n",
            f"An idle chain, one datagram of 1472 B, {len(links.DISCOVERY_SEEDS)} seeds. Counts without HELLO have to be equal in",
            "every run; with HELLO and ARP a request or two depend on which neighbour is known already. A request of ARP that is",
            "lost costs a second: in ns-3 that is one of the runs over two hops, and one of those over four.\n",
            table(head, rows),
        ]
    )


HABITS = {
    "`errors`": ("errors",),
    "`proof`": ("proof",),
    "`release_on`": ("release_on",),
    "`route_messages`": ("route_messages",),
    "`blacklist_timeout`": ("blacklist_timeout",),
    "numbers and ways back": ("increment_on_break", "revive_way_back"),
}


def _aodv(sides: Sides) -> str:
    rows, blind, without = [], [], []
    for hops in links.HOPS:
        seeds = links.searching_seeds(hops)
        searching = {kind: [links.searching(kind, hops, seed) for seed in seeds] for kind in ("udp", "tcp")}
        rows.append([str(hops), *_transports(sides, hops, lambda kind, asked=searching: asked[kind])])
        if hops > 1:
            habits = ours.AODV | {"hello": "always"}
            sets = [{key: habits[key] for key in habits if key not in keys} for keys in HABITS.values()]
            for kind, name in (("udp", "UDP"), ("tcp", "NewReno")):
                pairs = (sides.pair(searching[kind], _goodput, routing=kept) for kept in (habits, *sets, "aodv"))
                without.append([str(hops), name, *(f"{pair.ratio:.2f} ± {pair.error:.2f}" for pair in pairs)])
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
            'As above, -82 dBm, HELLO and ARP, with AODV\'s habits of ns-3: `link_break_on = "any"`, `release_on = "reply"`,',
            "`drop_returning = true`, `increment_on_expiry = false`, `increment_on_break = false`, `revive_way_back = false`,",
            '`errors = "ns3"`, `proof = "forwarded"`, `route_messages = true`, `blacklist_timeout = "0 s"`; '
            f"{len(links.SEARCHING_SEEDS)} seeds, over one hop {len(links.CHAIN_SEEDS)}.\n",
            table(["hops", *TRANSPORTS], rows),
            f"Asked for 1 Mbit/s of UDP, with the block acknowledgements of ns-3's default in both, {len(links.LIGHT_SEEDS)} seeds.",
            "The packets that wait for a route leave together, break links, and now and then no route is found again in 10 s:\n",
            table(["hops", "static, ns-3", "ours", "ratio", "3 %", "AODV, ns-3", "ours", "ratio", "3 %"], light),
            "From three hops on what is asked for breaks links all the time, and the outcome is how soon the source hears of it.",
            "Each habit of ns-3 is a switch of ours (`docs/models/routing.md`). Ratios to ns-3 with all of them, without one, and",
            "with none, as RFC 3561 has it:\n",
            table(["hops", "", "all", *(f"no {name}" for name in HABITS), "none"], without),
            "- `errors`: a relay of ns-3 answers each packet for which it has no route, thousands in 10 s; RFC 3561 has ten a second.",
            "- `proof`: a frame that ns-3 gives up breaks the link only to a neighbour that it expects, and data that it forwards and",
            "  errors that come by unicast prolong that.",
            "- `release_on`: packets that wait are released by a reply or the end of a ring, and later ones overtake them.",
            "- `route_messages`: acknowledgements of replies, replies and errors take a route to the neighbour. After a break that is",
            "  invalid, and they wait for a request. A reply dies after as many hops as its sender counted; without that limit, replies",
            "  circle in the loops that ns-3's rules for numbers and ways back allow.",
            "- `blacklist_timeout`: ns-3 never starts that timer. In ours, a neighbour whose acknowledgement waits for a route is",
            "  ignored for 5.6 s.",
            "- numbers and ways back: `increment_on_break` and `revive_way_back`.\n",
            "With none, one of 240 runs over two hops delivers nothing (none of ns-3's, and none of ours with all): the destination's replies",
            "to the relay's four requests of ARP meet data of the source, which does not hear them, and it then counts as dead for 100 s.\n",
            "ns-3's AODV finds the neighbour of a frame that was given up by its address in the ARP cache. Where the cache is",
            "filled beforehand it finds none, and no link ever breaks: UDP is then that of static routes. All three are ns-3's:\n",
            table(["hops", "ARP", "addresses known", "static routes"], blind),
            "Where nodes two hops apart hear one another (-101 dBm) and broadcasts reach no further than data (24 Mbit/s),",
            "frames of a source that is asked for too much expire after 500 ms, and each that does breaks the link, in both. ns-3 has",
            "a second queue above that of a station: FqCoDel with 10,240 packets, stopped while the other is full. Packets from there go",
            "to the neighbour of the old route, expire, and break the new one. Ours has no such queue. 20 Mbit/s of UDP,",
            f"{len(links.OVERLOADED_SEEDS)} seeds:\n",
            table(["hops", "with FqCoDel, ns-3", "without, ns-3", "ours", "ratio", "3 %"], overloaded),
        ]
    )


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
            "Chains with 1 Mbit/s of UDP that starts when routes have settled, after 40 s (OLSR) and 60 s (DSDV), with ARP,",
            f"{len(links.PROACTIVE_SEEDS)} seeds. When routes are there: `crates/lightlag-sim/tests/scenarios/chains.rs`. DSDV has ns-3's habits",
            '(`advertise = "newer"`, `first_dump = "1 ms"`).\n',
            table(head, rows),
            "ns-3's DSDV passes each newer number on at once, also where neither hops nor neighbour change. Without these habits",
            "ours waits for the next dump (Perkins and Bhagwat 1994: no significant change):\n",
            table(["hops", "bytes of routing, ns-3", "ours, no habits", "ratio", "10 %"], paper),
            "With ns-3's updates between dumps put off beyond the end of the run, its bytes over two hops are",
            f"{fmean(quiet.theirs):.0f}, ours {fmean(quiet.ours):.0f}.\n",
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
    head += ["ours, Linux's rules", "of NewReno, ns-3", "ours, Linux's rules", "80 % at one hop"]
    return "\n".join(
        [
            "## BBR\n",
            f"Chains over static routes with preambles from -101 dBm on, 10 s, {len(links.BBR_SEEDS)} seeds. ns-3.37's BBR takes n",
            "ACKs in a flight for n/(n+1) of its rate, so that it starves with an ACK for every second segment; the variant",
            "`ns3` does, too (docs/models/congestion-control.md). Ours follows Linux otherwise and does not depend on the",
            "policy of ACKs. Chance decides when a fall starts, so that seeds differ much.\n",
            table(head, rows),
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
"""In the order of the page."""

HEAD = """# Beside ns-3 on the air

lightlag beside ns-3.37 (Debian's {version}) with the same settings, number by number: the programs are
`benchmarks/peers/ns3/air-*.cc`, what they printed is in `benchmarks/peers/ns3/air.json`, and `make peers-air` writes this
page. ± is the standard error over the seeds. A ratio is ours to that of ns-3. Tolerances are those that were set before:
saturation 2 %, UDP 3 %, NewReno 5 % on one link and 10 % on chains, loss of frames 0.02, discovery 5 ms. "By chance, or
outside": not further outside than two standard errors.
"""
