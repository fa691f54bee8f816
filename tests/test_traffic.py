"""Datagrams, requests, pages and transfers in scripts, results and captures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag.errors import InputError
from lightlag.records.rows import flow_rows

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark")

CALL = {"kind": "constant", "rate": "400 kbit/s", "size": "500 B"}
WEB = {"kind": "web", "html": "10 kB", "objects": 8, "object": "5 kB", "think": "1 s", "count": 3}
ASK = {"kind": "requests", "response": {"distribution": "exponential", "mean": "4 kB"}, "think": "500 ms", "count": 9}


def network() -> ll.Network:
    """A server and a client with a flow of each sort."""
    built = ll.Network("mixed")
    built.link("server", "client", rate="2 Mbit/s", delay="20 ms", queue="20 packets", loss=0.03)
    built.flow("client", "server", name="call", transport="udp", traffic=CALL)
    built.flow("server", "client", name="web", traffic=WEB)
    built.flow("server", "client", name="ask", traffic=ASK)
    built.flow("server", "client", name="bulk", transfer="100 kB", reader={"rate": "100 kB/s"})
    return built


@pytest.fixture(scope="module")
def result() -> ll.Result:
    return ll.run(network().scenario("60 s", seed=1))


def test_rows_have_what_their_traffic_has(result: ll.Result) -> None:
    flows = {flow["name"]: flow for flow in result.summary["flows"]}
    assert list(flows) == ["call", "web", "web.2", "web.3", "web.4", "web.5", "web.6", "ask", "bulk"]
    call = flows["call"]
    assert call["congestion"] == "udp"
    assert call["finish_s"] is None
    datagrams = call["datagrams"]
    assert 0 < datagrams["lost"] <= call["sent_segments"] - datagrams["received"]
    assert 0.022 < datagrams["mean_delay_s"] < 1
    assert 0.022 < datagrams["p95_delay_s"] < 1
    assert flows["web"]["pages"]["count"] == 3
    assert flows["ask"]["responses"]["count"] == 9
    assert not {"datagrams", "pages", "responses"} & set(flows["bulk"])


def test_a_saved_result_has_the_same_values(result: ll.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "mixed")
    again = ll.load(folder)
    assert again.summary["flows"] == result.summary["flows"]
    assert again.responses.rows() == result.responses.rows()
    assert flow_rows(again.summary) == flow_rows(result.summary)


def test_only_pages_from_files_have_objects(result: ll.Result) -> None:
    with pytest.raises(InputError, match=r'only pages from files .* instead of kind = "web", or read responses'):
        _ = result.objects
    plain = ll.Network()
    plain.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    plain.flow("a", "b", transfer="1 kB")
    with pytest.raises(InputError, match="no flow loads a page"):
        _ = ll.run(plain.scenario("1 s")).objects


def test_proxies_fetch_objects_ahead(tmp_path: Path) -> None:
    page = ll.presets.page_file("etsi-kepler")
    plain, ahead = (ll.run(ll.presets.geo_pep(page=page, tls="none", prefetch=prefetch)) for prefetch in (False, True))
    # The page is one level of objects on one host: a round trip of 600 ms less the one to the second PEP, and more
    # because the first PEP sends objects while the client still waits for the page.
    saved = plain.responses["duration_s"][0] - ahead.responses["duration_s"][0]
    assert 0.55 < saved < 0.75
    assert "prefetched" not in plain.objects.columns
    assert ahead.objects["prefetched"].sum() == 74
    again = ll.load(ahead.save(tmp_path / "ahead"))
    assert again.objects["prefetched"].to_list() == ahead.objects["prefetched"].to_list()
    first, second = again.proxies.sort("request_bytes", descending=True).iter_rows(named=True)
    assert (first["prefetched_objects"], first["prefetched_unused_bytes"]) == (74, 0)
    assert (second["request_bytes"], second["prefetched_objects"]) == (400, None)
    warnings = dict(ll.presets.geo_pep(page=page, prefetch=True).check())
    assert warnings["proxies[0].prefetch"].startswith('"gateway" prefetches nothing for "page": TLS 1.3 hides')
    with pytest.raises(InputError, match='no page "kepler"; there are desktop-2024, etsi-kepler, mobile-2024'):
        ll.presets.page_file("kepler")


def test_responses_are_a_table(result: ll.Result) -> None:
    table = result.responses
    assert table.columns == ["time_s", "flow", "duration_s", "first_byte_s", "byte_index_s", "bytes"]
    by_flow = {str(flow): rows["duration_s"] for (flow,), rows in table.group_by("flow")}
    flows = {flow["name"]: flow for flow in result.summary["flows"]}
    assert by_flow["web"].len() == 3
    assert by_flow["ask"].mean() == pytest.approx(flows["ask"]["responses"]["mean_s"])
    assert table["bytes"].sum() == sum(
        flow["delivered_bytes"] for name, flow in flows.items() if name.startswith(("web", "ask"))
    )
    plain = ll.Network()
    plain.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    plain.flow("a", "b", transfer="1 kB")
    with pytest.raises(InputError, match="no flow has requests"):
        _ = ll.run(plain).responses


def test_the_screen_shows_what_there_is(lightlag: Lightlag, tmp_path: Path) -> None:
    path = tmp_path / "mixed.toml"
    path.write_text(network().scenario("60 s", seed=1).to_toml())
    done = lightlag("run", path)
    assert done.returncode == 0, done.stderr
    rows = flow_rows(ll.load(tmp_path / "results/mixed").summary)
    assert rows[0]["congestion"] == "udp"
    assert rows[0]["lost"].endswith("%")
    assert {rows[0][key] for key in ("retransmitted", "timeouts", "mean RTT", "mean cwnd", "responses")} == {"–"}
    assert rows[1]["responses"] == "3"
    assert rows[-1]["lost"] == rows[-1]["responses"] == "–"


def test_only_what_is_there_is_shown() -> None:
    plain = ll.Network()
    plain.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    plain.flow("a", "b", transfer="1 kB")
    (row,) = flow_rows(ll.run(plain).summary)
    assert not {"lost", "responses"} & set(row)


@needs_tshark
@pytest.mark.parametrize("version", ["v4", "v6"])
def test_tshark_takes_our_datagrams(version: str) -> None:
    asked = network().scenario("3 s", seed=1).to_dict() | {"ip": version, "record": {"pcap": {}}}
    result = ll.run(asked)
    assert TSHARK
    command = [TSHARK, "-r", str(result.captures["client"]), "-o", "udp.check_checksum:TRUE"]
    command += ["-Y", "udp", "-T", "fields", "-E", "separator=,"]
    for field in ("udp.length", "udp.checksum.status", "_ws.malformed", "udp.dstport"):
        command += ["-e", field]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # 500 B and a header of 8; 1 is a right checksum.
    assert set(shown) == {"508,1,,9"}
    assert len(shown) == result.summary["flows"][0]["sent_segments"]


def test_errors_name_their_place() -> None:
    built = ll.Network()
    built.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    built.flow("a", "b", traffic={"kind": "constnat", "rate": "1 Mbit/s"})
    with pytest.raises(ll.ScenarioError, match=r"flows\[0\]\.traffic\.kind.*did you mean \"constant\""):
        ll.run(built)
