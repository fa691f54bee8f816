"""The waterfall of a page: its bars and its curve agree with the table of objects, in figures and in reports."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.records.page_load import page_load
from lightlag.report.run import run_page

PAGE = Path(__file__).parent / "data/page.json"


def loaded(traffic: dict[str, Any], duration: str = "30 s", file: Path = PAGE) -> ll.Result:
    net = ll.Network("page")
    net.link("server", "client", rate="10 Mbit/s", delay="40 ms")
    net.flow("server", "client", traffic={"kind": "page", "file": str(file), **traffic}, setup={"tls": "1.3"})
    return ll.run(net, duration=duration, seed=1)


@pytest.fixture(scope="module")
def result() -> ll.Result:
    return loaded({"connections": 4, "think": "1 s", "count": 2})


def test_the_bars_are_the_times_of_the_objects(result: ll.Result) -> None:
    figure = result.plot("waterfall", page=2)
    bars, curve = figure.axes
    rows = result.objects.filter(result.objects["page"] == 2).sort("time_s", "start_s")
    began_s = result.responses["time_s"][1]
    assert [label.get_text() for label in bars.get_yticklabels()] == rows["object"].cast(str).to_list()
    spans = [[path.get_extents() for path in part.get_paths()] for part in bars.collections]
    for row, parts in zip(rows.iter_rows(named=True), zip(*spans, strict=True), strict=True):
        edges = [parts[0].x0, *(part.x1 for part in parts)]
        times = [row[key] - began_s for key in ("time_s", "start_s", "first_byte_s", "end_s")]
        assert edges == pytest.approx(times)
    colours = {str(colour) for colour in bars.collections[2].get_facecolor()}
    assert len(colours) == rows["connection"].n_unique() == 4
    took_s = result.responses["duration_s"][1]
    for axes in (bars, curve):
        assert took_s in [line.get_xdata()[0] for line in axes.lines]  # type: ignore[index]
    times, fractions = page_load(result, page=2).arrived()
    assert (times[0], fractions[0], times[-1], fractions[-1]) == pytest.approx((0, 0, took_s, 1))
    assert fractions == sorted(fractions)


def test_the_area_above_the_curve_is_the_byte_index(result: ll.Result) -> None:
    load = page_load(result)
    times, fractions = load.arrived()
    area = sum(
        (1 - (before + after) / 2) * (end - start)
        for (start, end), (before, after) in zip(itertools.pairwise(times), itertools.pairwise(fractions), strict=True)
    )
    # Between its first byte and its last an object arrives at a constant rate in the curve, and in windows in the run.
    assert area == pytest.approx(load.byte_index_s, rel=0.05)


def test_a_load_that_does_not_end_has_no_mark() -> None:
    result = loaded({"count": 1}, duration="800 ms")
    load = page_load(result)
    assert (load.took_s, load.byte_index_s) == (None, None)
    assert "not complete" in str(result.plot("waterfall").get_suptitle())
    assert "not complete at the end of the run" in run_page(result)
    with pytest.raises(ll.InputError, match="page: no object of a page arrived; run it for longer"):
        loaded({"count": 1}, duration="100 ms").plot("waterfall")


def test_loads_and_flows_that_do_not_exist_are_named(result: ll.Result) -> None:
    with pytest.raises(ll.InputError, match="page 3: is not a load of flow server->client; there are 1 to 2"):
        result.plot("waterfall", page=3)
    with pytest.raises(ll.InputError, match='no page of flow "x"; there are server->client'):
        result.plot("waterfall", flow="x")


def test_a_report_has_the_waterfall(result: ll.Result) -> None:
    page = run_page(result)
    (svg,) = re.findall(r"<svg viewBox.*?</svg>", page, re.DOTALL)
    assert svg.count("<g><title>") == 16
    assert svg.count("<rect") == 3 * 16
    assert 'href="#waterfall"' in page
    for text in ("16 objects over 4 connections", "ByteIndex"):
        assert text in page
    other = ll.run(ll.presets.geo(transfer="100 kB"), seed=1)
    assert 'id="waterfall"' not in run_page(other)


def test_names_of_objects_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "page.json"
    name = "<b>&\u202e" + "x" * 40
    file.write_text(json.dumps({"objects": [{"id": name, "size": 500}]}))
    result = loaded({"count": 1}, file=file)
    page = run_page(result)
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
    (label,) = result.plot("waterfall").axes[0].get_yticklabels()
    assert len(label.get_text()) <= 24
    assert "\u202e" not in label.get_text()
