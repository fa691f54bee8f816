"""``lightlag explain`` has an entry for every heading and row label of printed tables, and for terms of the field."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag import plot
from lightlag.captures import connections, sides
from lightlag.cli.app import app
from lightlag.commands.why import explained
from lightlag.diagnosis import causes
from lightlag.difference import flows
from lightlag.outcomes.design import MEASURES
from lightlag.report.run import run_page
from lightlag.words import glossary, words
from lightlag.words.explain import explain

ROOT = Path(__file__).parents[1]
ANALYSIS = ROOT / "crates" / "lightlag-analysis" / "src"

QUIC = """\
name = "quic"
duration = "5 s"
defaults.transport = "quic"
links = [{ between = ["a", "b"], rate = "5 Mbit/s", delay = "50 ms", loss = 1e-3 }]
flows = [{ from = "a", to = "b", transfer = "1 MB" }]
"""
STUDY = """\
scenarios = ["geo"]
congestion = ["cubic", "newreno"]
replications = 2
vary = { "links.1.loss" = [0, 1e-3] }
set = { duration = "3 s" }
"""

RUNS = {
    "quic.toml": "3 s",
    "geo": "3 s",
    "geo-pep": "9 s",
    "swarm": "2 s",
    "starlink-550": "1 s",
    "traffic": "5 s",
    "scps-moon": "9 s",
    "rcs2-beam": "3 s",
    "iot-direct": "60 s",
    "satellite-iot": "5 s",
}
COMPARE = ("--figures", "none", "-n", "2", "-d", "2 s")
COMMANDS = (
    ("compare", "geo", "-c", "cubic,hybla", *COMPARE, "-o", "one"),
    ("compare", "geo", "-c", "cubic,hybla", *COMPARE, "-s", "links.1.loss=1e-3", "-o", "two"),
    ("compare", "dumbbell", "-c", "cubic/bbr", *COMPARE, "--vary", "rtt=50 ms,100 ms"),
    ("compare", "traffic", "-c", "cubic", *COMPARE),
    ("study", "run", "study.toml", "-o", "study"),
    ("study", "status", "study.toml", "-o", "study"),
    ("run", "geo", "-d", "3 s", "-o", "cap", "--pcap", "--qlog", "logs"),
    ("diff", "one", "two"),
    ("diff", "cap", "geo-run"),
    ("diff", "geo", "traffic"),
    ("why", "geo", "-n", "2"),
    ("inspect", "cap/captures/client.pcapng"),
    ("inspect", "cap/captures/client.pcapng", "--flow", "0"),
    ("inspect", "logs/client-to-server.sqlog"),
    ("compare-capture", "cap/captures/client.pcapng", "cap"),
    ("replay", "cap/captures/client.pcapng"),
    ("orbit", "starlink-550", "--station", "London", "--seconds", "200"),
    ("explain", "link-budget", "budget.toml"),
)


def rows_of(text: str) -> list[list[str]]:
    """The tables in a text: the line above each rule, and the first cells of the lines below if they are labels."""
    lines = text.splitlines()
    tables = []
    for at, line in enumerate(lines):
        if re.fullmatch(r" ─+", line):
            heads = re.split(r"  +", lines[at - 1].strip())
            cells = [re.split(r"  +", row.strip())[0] for row in lines[at + 1 :][: lines[at + 1 :].index("")]]
            is_labelled = lines[at - 1].startswith("   ") or heads[0] in ("measure", "without", "state")
            tables.append(heads + (cells if is_labelled else []))
    return tables


def missing(names: set[str]) -> list[str]:
    """The names that have no explanation of their own."""
    return sorted(name for name in names if not (words.is_explained(name) or explained(name)))


@pytest.mark.long
def test_every_word_that_a_command_prints_in_a_table_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = CliRunner()
    Path("quic.toml").write_text(QUIC)
    Path("study.toml").write_text(STUDY)
    Path("budget.toml").write_text(call.invoke(app, ["explain", "link-budget"]).stdout)
    runs = [("run", name, "-d", time, "-o", f"{name.removesuffix('.toml')}-run") for name, time in RUNS.items()]
    found: set[str] = set()
    for command in [*runs, *COMMANDS]:
        done = call.invoke(app, command, env={"COLUMNS": "400"})
        assert done.exit_code == 0, done.output
        tables = rows_of(done.stdout)
        assert tables, f"{command} prints no table"
        found |= {word for table in tables for word in table if not word.isdigit()}
    assert len(found) > 100
    # A comparison's own axes have the names of keys.
    assert missing(found) == []


def test_every_word_that_the_engine_declares_for_tables_is_explained() -> None:
    names: set[str] = set()
    for file in sorted((ANALYSIS / "rows").glob("*.rs")):
        code = file.read_text("utf-8").split("#[cfg(test)]")[0]
        names |= set(re.findall(r'\(\s*"([a-zA-Z0-9][^"{}]*)",\s', code))
    assert {"dropped (policer)", "frames/A-MPDU", "signals", "95 % delay"} <= names
    limits = (ANALYSIS / "limits.rs").read_text("utf-8").split("#[cfg(test)]")[0]
    causes = set(re.findall(r'\("([a-z][^"]*)", ', limits))
    assert {"rwnd", "stream credit"} <= causes
    assert missing(names | causes) == []


def test_every_word_that_python_declares_for_tables_is_explained() -> None:
    assert missing({title for _, title, _ in sides.MEASURES}) == []
    assert missing({title.strip() for title, _ in connections._DETAILS}) == []
    assert missing({one.title.lower() for one in MEASURES}) == []
    assert missing({one.title for one in flows.MEASURES.values()}) == []
    assert missing({one.name for one in causes()}) == []
    assert missing({*plot.OVER_TIME, *plot.FIGURES}) == []


def test_every_heading_of_the_tables_of_reports_is_explained(tmp_path: Path) -> None:
    ll.compare("dumbbell", ["cubic/bbr"], replications=2, duration="2 s").save(tmp_path / "mix")
    ll.compare("geo", ["cubic", "bbr"], replications=2, duration="2 s", vary={"links.1.loss": [0, 1e-3]}).save(
        tmp_path / "loss"
    )
    pages = [run_page(ll.run("geo-pep", duration="9 s"))]
    pages += [(tmp_path / name / "report.html").read_text("utf-8") for name in ("mix", "loss")]
    found: set[str] = set()
    for page in pages:
        cells = re.findall(r"<th[^>]*>(.*?)</th>|<dt>(.*?)</dt>", page)
        found |= {html.unescape(re.sub("<[^>]+>", "", one or other)) for one, other in cells}
        charts = json.loads(re.findall(r'<script type="application/json" id="charts">(.*?)</script>', page, re.S)[0])
        found |= {panel["title"] for chart in charts.values() for panel in chart["panels"] if " (" in panel["title"]}
    found = {name for name in found if name and not name.startswith(("loss 0", "cubic", "bbr"))}
    assert {"algorithm", "candidate", "platform", "mean buffer"} <= found
    assert missing(found) == []


NOT_MODELLED = (
    *("LTP", "bundle", "custody", "CFDP", "DTN", "BPv7", "contact graph routing", "MPTCP", "multipath QUIC", "SCTP"),
    *("DCCP", "RTP", "WebRTC", "SRT", "NDN", "ICN", "OSPF", "BGP", "TCP Prague", "PCC", "5G", "LTE", "ARP", "spin bit"),
    *("version negotiation", "multicast", "Doppler"),
)
OF_QUIC = {
    "MAX_DATA": "connection_credit",
    "MAX_STREAM_DATA": "stream_credit",
    "PTO": "packet_threshold",
    "0-RTT": "zero_rtt",
    "TLS": "certificate",
    "Retry": "retry",
    "anti-amplification": "amplification",
    "migration": "migrate",
    "connection ID": "rebind",
    "MASQUE": "[[tunnels]]",
    "HTTP/3": "transport = quic",
    "QPACK": "streams",
    "careful resume": "careful_resume",
    "PMTUD": "quic.mtu",
    "ack frequency": "delayed_ack",
    "packet threshold": "packet_threshold",
}


@pytest.mark.parametrize("word", NOT_MODELLED)
def test_a_term_that_is_not_modelled_says_so_and_names_what_is_close(word: str) -> None:
    text = " ".join(explain(word).split())
    assert re.search(r"not modelled|Not modelled", text), text
    assert len(text) > 100, "and what exists instead"


@pytest.mark.parametrize("word", OF_QUIC)
def test_a_term_of_quic_says_what_exists(word: str) -> None:
    assert words.is_explained(word)
    assert OF_QUIC[word] in " ".join(explain(word).split())


def test_a_cause_of_why_is_explained_by_the_command() -> None:
    text = CliRunner().invoke(app, ["explain", "losses of data"]).stdout
    assert "random losses reduce the congestion window" in text
    text = CliRunner().invoke(app, ["explain", "slow start"]).stdout
    assert text.startswith("slow start: term")
    assert "slow start: cause of a slow transfer" in text


def test_every_term_that_a_label_names_exists() -> None:
    for label in glossary.labels():
        for name in label.columns:
            assert words.is_explained(name), f"{label.names}: {name}"
        assert label.text.endswith((".", ")")), label.names


@pytest.mark.parametrize(
    ("word", "start"),
    [
        ("RED", "red: queue discipline"),
        ("BBRv3", "bbr3: congestion control"),
        ("AODV", "aodv: routing protocol of swarms"),
        ("window scaling", "window_scaling: key of a scenario"),
        ("keep-alive", "keep_alive: key of a scenario"),
        ("C/N0, faded", "C/N0, faded: see C/N0"),
        ("Goodput (Mbit/s)", "Goodput (Mbit/s): see Goodput"),
        ("gases, exceeded for 0.1 %", "gases, exceeded for 0.1 %: see gases"),
    ],
)
def test_a_word_is_found_as_it_is_printed_and_spoken(word: str, start: str) -> None:
    assert explain(word).startswith(start), explain(word)[:200]


def test_words_inside_words_are_not_found() -> None:
    assert "rts_threshold" in explain("rts")
    assert "starts" not in explain("rts")
    assert "number" not in explain("ber").splitlines()[0]
    assert "Bit error rate" in explain("ber")
