"""Objects at a prompt and in a notebook: a line, a page that fits a screen, bars, pickles and pandas."""

from __future__ import annotations

import multiprocessing
import pickle
import re
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lightlag as ll
from conftest import pair
from lightlag import presets
from lightlag.records.source import TableName
from lightlag.scenario import Dumbbell, Scenario
from lightlag.text import notebook
from lightlag.text.topology import MOST_NODES, graph, picture
from test_study import small

LINES_OF_A_SCREEN = 50
WIDEST = 120


def pictured(text: str) -> ET.Element:
    """Returns the diagram in a page, after a check that it is well-formed XML."""
    (vector,) = re.findall(r"<svg.*</svg>", text, flags=re.DOTALL)
    return ET.fromstring(vector)


def texts(text: str) -> list[str]:
    return ["".join(one.itertext()) for one in pictured(text).iter() if one.tag.endswith("}text")]


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_a_network_fits_a_line_and_shows_its_topology() -> None:
    net = ll.Network("geo")
    assert repr(net) == "<Network 'geo': empty>"
    assert "<svg" not in net._repr_html_()
    net.link("client", "gateway", rate="1 Gbit/s", delay="1 ms")
    back = ll.Directions("10 Mbit/s", "2 Mbit/s")
    net.link("gateway", "server", rate=back, delay="300 ms", queue={"discipline": "codel"}, loss=1e-4)
    net.flow("client", "server", transfer="2 MB", congestion="hybla")
    net.flow("server", "client", transport="udp")
    net.proxy("gateway", buffer="1 MB")
    assert repr(net) == "<Network 'geo': 2 links, 2 flows, 1 proxy>"
    assert repr(net.scenario("120 s", seed=3)) == "<Scenario 'geo': 2 links, 2 flows, 1 proxy, 120 s, seed 3>"
    shown = texts(net._repr_html_())
    for text in ("1 Gbit/s · 1 ms", "10 Mbit/s / 2 Mbit/s · 300 ms", "queue codel · loss 0.0001", "client", "proxy"):
        assert text in shown, (text, shown)
    assert {"client → server: hybla, 2 MB", "server → client: UDP"} <= set(shown)
    assert texts(net.scenario("1 s")._repr_html_()) == shown


@pytest.mark.parametrize("name", sorted(presets.PRESETS))
def test_every_preset_has_a_diagram_or_is_too_large(name: str) -> None:
    scenario = presets.PRESETS[name]()
    assert len(repr(scenario)) <= WIDEST
    assert "\n" not in repr(scenario)
    page = scenario._repr_html_()
    assert len(page) < 60_000
    found = graph(scenario.to_dict())
    if len(found.nodes) > MOST_NODES:
        assert "<svg" not in page
        return
    drawn = pictured(page)
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    assert width > 0
    assert height > 0
    for one in drawn.iter():
        for key in ("x", "x1", "x2"):
            assert 0 <= float(one.attrib.get(key, 0)) <= width, (name, one.attrib)
    assert page == presets.PRESETS[name]()._repr_html_(), "the same diagram each time"


def test_nodes_of_a_generator_are_grouped() -> None:
    net = ll.Network("shared", topology=Dumbbell(pairs=40, rate="10 Mbit/s", delay="50 ms"))
    net.flow("client7", "server7", congestion="bbr")
    shown = texts(net._repr_html_())
    assert {"clients", "× 40", "router-left", "router-right", "servers", "clients → servers: bbr"} <= set(shown)
    # A generator adds flows only where none is listed.
    assert "clients → servers (× 40)" not in shown
    net.flows.clear()
    assert "clients → servers (× 40)" in texts(net._repr_html_())


def test_names_cannot_write_into_the_page() -> None:
    net = ll.Network("<script>alert(1)</script>")
    net.link("<b>", 'x" onload="y', rate="1 Mbit/s", delay="1 ms\u202e")
    net.flow("<b>", 'x" onload="y', name="&")
    page = net._repr_html_()
    assert "<script" not in page
    assert not any(key.startswith("on") for one in pictured(page).iter() for key in one.attrib)
    assert "\u202e" not in page + repr(net)


@pytest.mark.parametrize(
    "wrong",
    [
        {"links": [{"between": ["a"], "rate": 3}]},
        {"topology": {"kind": "dumbbell", "pairs": None}},
        {"topology": {"kind": "unheard of"}},
        {"topology": {"kind": "chain", "hops": "many"}},
        {"flows": [{"from": "a", "to": "a"}]},
        {"nodes": [{"name": "a"}], "media": [{}]},
    ],
    ids=str,
)
def test_a_scenario_that_is_wrong_still_shows_itself(wrong: dict[str, Any]) -> None:
    net = ll.Network("wrong", **{key: value for key, value in wrong.items() if key == "topology"})
    for key in ("links", "flows", "nodes", "media"):
        setattr(net, key, wrong.get(key, []))
    assert "wrong" in net._repr_html_()
    assert repr(net).startswith("<Network 'wrong': ")


def test_parts_without_links_are_drawn_next_to_each_other() -> None:
    line = {"rate": "1 Mbit/s", "delay": "1 ms"}
    drawn = picture({"links": [line | {"between": [f"a{at}", f"b{at}"]} for at in range(4)]})
    places = {(one.attrib["x"], one.attrib["y"]) for one in ET.fromstring(drawn).iter() if one.tag.endswith("}rect")}
    assert len(places) == 8
    assert picture({"links": [line | {"between": ["hub", f"n{at}"]} for at in range(MOST_NODES)]}) == ""


# --- results ----------------------------------------------------------------------------------------------------------


def test_results_fit_a_screen(result: ll.Result) -> None:
    many = ll.run(presets.dumbbell(pairs=60, rate="10 Mbit/s", stagger="0 s", duration="1 s"))
    assert len(repr(many)) <= WIDEST
    page = many._repr_html_()
    assert page.count("<tr>") <= LINES_OF_A_SCREEN
    assert "and 50 more flows" in page
    study = small(replications=2)
    assert repr(study) == "<Study: 1 scenario, 4 points, 2 seeds>"
    assert "<b>" in study._repr_html_()


def test_one_flow_has_no_fairness(result: ll.Result) -> None:
    one = ll.compare(pair(), ["cubic"], replications=1, duration="2 s")
    assert "Jain" not in one._repr_html_() + str(one.rows())
    assert "jain fairness" not in one.rows()[0]
    two = pair()
    two.flow("client", "server", transfer="1 MB")
    assert "jain fairness" in ll.compare(two, ["cubic"], replications=1, duration="2 s").rows()[0]


def test_names_of_results_are_escaped() -> None:
    net = pair()
    net.name = "<script>"
    assert "<script" not in ll.run(net, duration="1 s")._repr_html_()
    assert "<script" not in ll.compare(net, ["cubic"], replications=1, duration="1 s")._repr_html_()


# --- pickles ----------------------------------------------------------------------------------------------------------


def around(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def run_of(net: ll.Network) -> ll.Result:
    return ll.run(net, duration="3 s", seed=5)


def test_scenarios_survive_a_pickle() -> None:
    net = presets.PRESETS["geo"]()
    assert around(net) == net
    assert around(pair()) == pair()
    assert around(pair().scenario("1 s", 3)) == pair().scenario("1 s", 3)
    assert isinstance(around(net), Scenario)


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in a folder"])
def test_a_result_survives_a_pickle_completely(kept: bool, tmp_path: Path) -> None:
    net = pair()
    net.record = ll.Record(acks=True, pcap=ll.Pcap(at=("client",)))
    result = run_of(net)
    if kept:
        result = ll.load(result.save(tmp_path / "out"))
    other = around(result)
    names: tuple[TableName, ...] = ("flows", "links", "trace", "queue", "drops", "acks")
    for name in names:
        assert other.table(name).equals(result.table(name)), name
    assert other.summary == result.summary
    assert (repr(other), other.result_hash, other.directory) == (repr(result), result.result_hash, None)
    assert other.origin == result.origin
    contents = {name: path.read_bytes() for name, path in other.captures.items()}
    assert contents == {name: path.read_bytes() for name, path in result.captures.items()}
    assert contents
    assert ll.load(other.save(tmp_path / "again")).summary == result.summary
    place = next(iter(other.captures.values())).parent.parent
    del other
    assert not place.exists()


def test_a_comparison_survives_a_pickle() -> None:
    found = ll.compare(pair(), ["cubic", "hybla"], replications=2, duration="2 s", vary={"links.0.loss": [0, 1e-2]})
    other = around(found)
    assert other.runs.equals(found.runs)
    assert other.flows.equals(found.flows)
    assert other.summary.equals(found.summary)
    assert (other.design, other.origin, repr(other)) == (found.design, found.origin, repr(found))
    assert other.figures == found.figures


@pytest.mark.parametrize("way", ["spawn", "dask"])
def test_other_processes_take_networks_and_return_results(way: str) -> None:
    here = run_of(pair())
    if way == "spawn":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(run_of, (pair(),))
    else:
        from distributed.protocol import deserialize, serialize

        found = deserialize(*serialize(around(run_of)(deserialize(*serialize(pair())))))
    assert found.result_hash == here.result_hash
    assert found.trace().equals(here.trace())


# --- pandas -----------------------------------------------------------------------------------------------------------


def test_tables_become_pandas_tables(result: ll.Result, tmp_path: Path) -> None:
    flows = result.to_pandas()
    assert flows["delivered_bytes"].tolist() == [2_000_000]
    assert list(result.to_pandas("trace").columns) == result.trace().columns
    with pytest.raises(ll.InputError, match='no table "nothing"; there are flows'):
        result.to_pandas("nothing")  # type: ignore[arg-type]
    found = ll.compare(pair(), ["cubic", "hybla"], replications=2, duration="2 s")
    for name in ("runs", "flows", "summary"):
        assert pl.from_pandas(found.to_pandas(name)).shape == getattr(found, name).shape
    with pytest.raises(ll.InputError, match='no table "curves"; there are runs, flows, summary'):
        found.to_pandas("curves")  # type: ignore[arg-type]
    study = small(replications=2).run(tmp_path / "out", progress=False)
    assert len(study.to_pandas()) == len(study.to_pandas("flows")) == 16
    assert "half_width" in study.to_pandas("summary").columns
    assert "16 runs" in study._repr_html_()


def test_without_pandas_the_error_names_the_extra(result: ll.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ll.InputError, match=r'to_pandas needs pandas and pyarrow .*; pip install "lightlag\[pandas\]"'):
        result.to_pandas()


# --- bars -------------------------------------------------------------------------------------------------------------


class Cell:
    """A cell of a notebook, as IPython shows values in it."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, value: Any, *, display_id: bool) -> Cell:
        assert display_id
        self.update(value)
        return self

    def update(self, value: Any) -> None:
        self.shown.append(value._repr_html_())


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    found = Cell()
    shell = types.SimpleNamespace(kernel=object())
    fakes: dict[str, Any] = {"IPython": {"get_ipython": lambda: shell}, "IPython.display": {"display": found.display}}
    for name, values in fakes.items():
        module = types.ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(notebook, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(notebook, "_INTERVAL_S", 0.0)
    return found


def test_work_in_a_notebook_has_a_bar_that_goes(cell: Cell, tmp_path: Path) -> None:
    ll.run(pair(), duration="30 s", interval_s=0.0)
    assert re.fullmatch(r'pair <progress value="0\.\d+"></progress> [\d.]+ of 30 s', cell.shown[0]), cell.shown[0]
    assert cell.shown[-1] == ""
    for work in (
        lambda: ll.compare(pair(), ["cubic"], replications=3, duration="1 s"),
        lambda: small(replications=1).run(tmp_path / "out"),
    ):
        cell.shown.clear()
        work()
        assert "<progress" in cell.shown[0]
        assert cell.shown[-1] == ""
        assert any('value="1.0000"' in text for text in cell.shown)


def test_a_bar_can_be_left_out_and_requested(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    ll.run(pair(), duration="30 s", interval_s=0.0, progress=False)
    ll.compare(pair(), ["cubic"], replications=1, duration="1 s", progress=False)
    assert cell.shown == []
    monkeypatch.delitem(sys.modules, "IPython")
    # Neither a notebook nor a terminal.
    ll.run(pair(), duration="1 s", interval_s=0.0, progress=True)
    assert cell.shown == []


def test_short_work_shows_no_bar(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_PATIENCE_S", 1e9)
    ll.run(pair(), duration="30 s", interval_s=0.0)
    assert cell.shown == []
