"""The section on page loads: its pages, its settings, single rows, and the page on satellite access."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.presets.web import page_file
from lightlag_papers.validation.measured import kosek, loads, testbed, webpages
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict
from lightlag_papers.validation.measured.runs import Work
from lightlag_papers.validation.measured.satellite import satellite_page

SHIPPED = page_file("etsi-kepler").parent


@pytest.fixture
def work(tmp_path: Path) -> Work:
    found = Work(tmp_path)
    loads.write_pages(found)
    return found


def load(orbit: str, loss_percent: float, *, pep: bool) -> kosek.Load:
    (found,) = [one for one in kosek.LOADS if (one.orbit.name, one.loss_percent, one.pep) == (orbit, loss_percent, pep)]
    return found


@pytest.mark.parametrize("name", webpages.PAGES)
def test_the_shipped_pages_are_those_of_the_validation(name: str) -> None:
    assert json.loads((SHIPPED / f"{name}.json").read_text("utf-8")) == webpages.PAGES[name]()
    assert {path.stem for path in SHIPPED.glob("*.json")} == set(webpages.PAGES)


def test_kepler_has_the_size_that_etsi_requires() -> None:
    listed = webpages.etsi_kepler()["objects"]
    # ETSI: 75 objects, about 800 kB, three images of 45 kB each and an object of 125 kB.
    assert len(listed) == 75
    body = [one["size"] - webpages.HEADERS for one in listed]
    assert sum(body) == 815_804
    assert sum(45e3 < size < 47e3 for size in body) == 3
    assert sum(125e3 < size < 131e3 for size in body) == 1


@pytest.mark.parametrize(("make", "medians"), [("desktop-2024", webpages.DESKTOP), ("mobile-2024", webpages.MOBILE)])
def test_a_median_page_has_the_published_sums(make: str, medians: dict[str, tuple[int, int]]) -> None:
    listed = webpages.PAGES[make]()["objects"]
    for kind in ("css", "font", "script", "image"):
        sizes = [one["size"] for one in listed if one["type"] == kind]
        assert len(sizes) == medians[kind][0]
        assert sum(sizes) / 1024 == pytest.approx(medians[kind][1], abs=0.02)
    assert len(listed) == medians["all"][0]
    assert sum(one["size"] for one in listed) / 1024 == pytest.approx(medians["all"][1], abs=0.05)


def test_the_document_takes_the_round_trips_of_its_windows(work: Work) -> None:
    (plain,) = loads._medians(work, "", [testbed.page_load(kosek.GEO, 0, pep=False)], testbed.loaded, 20)
    # Handshake, request and first window of 10 segments, then the rest of 17.6 kB: three round trips. The last two are
    # whole numbers of frames. The request of 452 B needs the constant assignment of two frames, and 17.6 kB take 8 ms.
    frames = round(kosek.GEO.rtt_ms / testbed.SUPERFRAME_MS)
    rounds_s = (kosek.GEO.rtt_ms + 2 * frames * testbed.SUPERFRAME_MS) / 1e3
    assert 0 < plain["document_s"].value - rounds_s < 0.0265 + 0.008


@pytest.mark.parametrize("orbit", [kosek.GEO, kosek.LEO])
@pytest.mark.parametrize("pep", [False, True])
def test_the_model_has_the_measured_round_trips_and_the_measured_payload(
    work: Work, orbit: kosek.Orbit, pep: bool
) -> None:
    def first_byte(result: ll.Result) -> dict[str, float]:
        (row,) = result.responses.to_dicts()
        return {"s": row["first_byte_s"]}

    traffic = {"kind": "requests", "response": "1 kB", "count": 1, "request": "100 B"}
    content = testbed.scenario(orbit, 0, pep=pep, traffic=traffic, length_s=testbed.LONGEST_S)
    # These starts are 53 different parts of a frame.
    (mine,) = loads._medians(work, "", [content], first_byte, 53)
    # A handshake and a request, also with PEPs, which wait for each handshake: measured 1.211 s over GEO. From one slot
    # of the terminal to the next is a whole number of frames.
    frames = round(orbit.rtt_ms / testbed.SUPERFRAME_MS)
    expected_ms = orbit.rtt_ms + frames * testbed.SUPERFRAME_MS
    assert mine["s"].value == pytest.approx(expected_ms / 1e3, abs=1e-3)

    def delivered(result: ll.Result) -> dict[str, float]:
        return {"mbit": result.summary["flows"][0]["delivered_bytes"] * 8e-6}

    whole = {"kind": "requests", "response": "200 MB", "count": 1}
    ends = [testbed.scenario(orbit, 0, pep=pep, traffic=whole, length_s=length_s) for length_s in (10, 14)]
    for content in ends:
        testbed.unassigned(content)
        # HyStart leaves slow start before the queue of 6,000 packets is full.
        content["defaults"]["tcp"]["congestion"] = "cubic"
    early, late = (one["mbit"].value for one in loads._medians(work, "", ends, delivered, 1))
    assert (late - early) / 4 == pytest.approx(testbed.PAYLOAD_MBPS, rel=5e-3)


def test_rows_without_loss_agree_and_nagles_algorithm_costs_a_round_trip(work: Work) -> None:
    found = Section("pages", "Pages")
    loads._loads(work, found, [load("GEO", 0, pep=False), load("GEO", 0, pep=True)], seeds=1)
    rows = {(fact.setting, fact.quantity): fact for fact in found.facts}
    assert rows["GEO, loss 0 %, TCP", "page load time"].verdict is Verdict.AGREES
    document = rows["GEO, loss 0 %, TCP with PEPs", "time of the complete document"]
    assert document.verdict is Verdict.AGREES
    content = testbed.page_load(kosek.GEO, 0, pep=True)
    eager = testbed.switched(content, testbed.PEP_SWITCHES["PEPs without Nagle's algorithm"])
    mine, other = loads._medians(work, "", [content, eager], testbed.loaded, 1)
    # The rest follows the server's second flight, 80 ms after the first, instead of an ACK over the satellite.
    assert mine["document_s"].value - other["document_s"].value == pytest.approx(0.526 - 0.08, abs=0.02)


def test_a_row_that_differs_lists_the_ratio_of_each_change(work: Work) -> None:
    found = Section("pages", "Pages")
    other = replace(load("LEO", 0, pep=True), load_ms=Spread(1_000))
    loads._loads(work, found, [other], seeds=1)
    listed, _, rest = found.facts[0].reason.partition("less than")
    assert re.search(r"return link of 100 kbit/s \d\.\d\d", listed)
    assert "CUBIC in PEPs" in rest


def test_only_the_median_counts(work: Work) -> None:
    # The quartiles of this measurement contain every result.
    wide = replace(load("GEO", 0, pep=False), load_ms=Spread(30_000, 1_000, 60_000))
    found = Section("pages", "Pages")
    loads._loads(work, found, [wide], seeds=1)
    assert found.facts[0].verdict is Verdict.DIFFERS


@pytest.mark.parametrize(("name", "change"), testbed.switches(pep=True, loss=True).items())
def test_every_switch_changes_the_scenario_and_gives_a_complete_page(
    work: Work, name: str, change: Callable[[dict[str, Any]], None]
) -> None:
    content = testbed.page_load(kosek.LEO, 0.1, pep=True)
    changed = testbed.switched(content, change)
    assert changed != content
    assert content == testbed.page_load(kosek.LEO, 0.1, pep=True)
    (mine,) = loads._medians(work, name, [changed], testbed.loaded, 1)
    assert 0.5 < mine["load_s"].value < 20


def test_an_incomplete_page_has_the_length_of_the_run(work: Work) -> None:
    content = testbed.page_load(kosek.GEO, 0, pep=False) | {"duration": "3 s"}
    (mine,) = loads._medians(work, "", [content], testbed.loaded, 1)
    assert mine["load_s"].value == testbed.LONGEST_S
    assert mine["document_s"].value < 3


def test_goodput_counts_the_bytes_of_30_s(work: Work) -> None:
    length_s = testbed.DOWNLOAD_S + kosek.GEO.rtt_ms / 1e3
    (mine,) = loads._medians(
        work, "", [testbed.download(100_000_000, 0, pep=False, length_s=length_s)], testbed.received, 1
    )
    full = testbed.PAYLOAD_MBPS
    assert 0.5 * full < mine["bytes"].value * 8e-6 / testbed.DOWNLOAD_S < full


def test_pages_over_quic_are_judged(work: Work) -> None:
    loads.write_pages(work)
    found = Section("pages", "Pages")
    loads._quic(work, found, seeds=1)
    assert all(fact.ours is not None and fact.verdict is not Verdict.NO_VERDICT for fact in found.facts)
    verdicts = {fact.setting: fact.verdict for fact in found.facts}
    # In GEO the model is a fifth faster, in LEO a tenth.
    assert verdicts["GEO, loss 0 %, QUIC"] is Verdict.DIFFERS
    assert verdicts["LEO, loss 0 %, QUIC"] is Verdict.AGREES
    changes = testbed.quic_switches(proxies=True, loss=True)
    content = testbed.switched(testbed.page_load(kosek.LEO, 1, pep=False), testbed.over_quic_proxies)
    assert all(testbed.switched(content, change) != content for change in changes.values())


def test_sources_that_were_not_read_have_no_verdict(work: Work) -> None:
    found = Section("pages", "Pages")
    loads._websites(work, found)
    assert {fact.verdict for fact in found.facts} == {Verdict.NO_VERDICT}
    sites = found.facts
    assert len(sites) == 6
    ratio = sites[-1]
    assert ratio.setting == "GEO / Starlink"
    # TCP and TLS 1.3 take two round trips, here of 600 and 49 ms.
    assert ratio.ours is not None
    assert ratio.ours.value == pytest.approx(600 / 49, rel=0.02)


def test_the_page_on_satellite_access_starts_with_the_verdict_and_quotes_the_rows() -> None:
    reason = "ratio with one change: one IP packet per frame 0.82; losses × 4 1.05; less than 0.03 by: HTTP/2"
    rows = [
        Fact("K", "GEO, loss 0 %, QUIC", "page load time", "s", Spread(10.8), Spread(11.6), Verdict.AGREES, "within"),
        Fact("K", "GEO, loss 1 %, QUIC", "page load time", "s", Spread(15.8), Spread(12.2), Verdict.DIFFERS, reason),
        Fact("K", "LEO, loss 0 %, QUIC", "page load time", "s", Spread(7.7), None, Verdict.NO_VERDICT, "not modelled"),
    ]
    text = satellite_page(Section("pages", "Pages", [], rows)).text()
    assert text.splitlines()[2].startswith("**1 of 2 facts about page loads agree within 15%.** 1 more")
    assert "| page load time, QUIC | 1 | 1 | 0.77 to 1.07 |" in text
    change = "With the change *one IP packet per frame* the ratio of the page load time (GEO, loss 1 %, QUIC) is 0.82"
    assert change in text
    assert "**The congestion control.**" not in text


def test_presets_load_a_page_and_peps_help() -> None:
    slow, fast = (
        ll.run(make(), seed=1).responses["duration_s"][0] for make in (ll.presets.geo_web, ll.presets.geo_pep)
    )
    assert 0.5 * slow < fast < 0.8 * slow
    # A lookup, TCP and TLS 1.3, the request: four round trips before the first byte, and 100 ms at the server.
    file = SHIPPED / "etsi-kepler.json"
    result = ll.run(ll.presets.geo_web(page=file), seed=1)
    assert result.responses["first_byte_s"][0] == pytest.approx(4 * 0.6, abs=0.05)
    assert len(result.objects) == 75
