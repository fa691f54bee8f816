"""Lists of a summary that stay in the engine until they are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lightlag as ll
from lightlag.files.writing import mentions
from lightlag.presets import sky as sky_presets
from lightlag.records.lists import Entries, column, texts, whole


@pytest.fixture(scope="module")
def result() -> ll.Result:
    net = ll.Network("chain")
    for at in range(3):
        net.link(f"n{at}", f"n{at + 1}", rate="1 Mbit/s", delay="10 ms", loss=1e-7 * at)
    for at in range(5):
        net.flow("n0", "n3", transfer="10 kB", start=f"{at} ms", name=f"f{at}")
    return ll.run(net, duration="5 s")


def test_parts_of_a_summary_hold_all_its_values(result: ll.Result) -> None:
    assert isinstance(result.parts["flows"], Entries)
    assert isinstance(result.parts["scenario"]["links"], Entries)
    assert whole(result.parts) == result.summary
    assert list(result.parts) == list(result.summary)
    assert result.summary["scenario"] == result.scenario
    assert list(result.scenario) == sorted(result.scenario)
    assert [len(result.summary[name]) for name in ("flows", "links")] == [5, 6]
    assert [len(result.scenario[name]) for name in ("flows", "links")] == [5, 3]


def test_a_summary_is_written_in_parts_with_the_same_bytes(result: ll.Result) -> None:
    pieces = list(texts(result.parts))
    assert "".join(pieces) == json.dumps(result.summary)
    assert len(pieces) > len(result.summary)


def test_entries_are_read_by_number_range_and_column(result: ll.Result) -> None:
    flows, listed = result.parts["flows"], result.summary["flows"]
    assert (flows[0], flows[-1], flows[1:3], flows[::-2]) == (listed[0], listed[-1], listed[1:3], listed[::-2])
    assert (flows[4:100], flows[7:]) == (listed[4:100], [])
    for name in ("name", "goodput_bps", "finish_s", "timeouts", "min_rtt_s"):
        assert column(flows, name) == column(listed, name) == [flow[name] for flow in listed]
    with pytest.raises(IndexError):
        flows[5]
    with pytest.raises(KeyError, match="nothing"):
        flows.column("nothing")


def test_a_generated_network_has_no_lists_in_its_scenario() -> None:
    result = ll.run("dumbbell", duration="1 s")
    assert not {"links", "flows"} & result.scenario.keys()
    assert "".join(texts(result.parts)) == json.dumps(result.summary)


def test_words_are_found_across_the_blocks_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "text"
    for before in (0, 65_530, 65_533, 65_536, 200_000):
        file.write_bytes(b"." * before + b'"code"' + b"." * 10)
        assert mentions(file, b'"code"')
    file.write_bytes(b"." * 200_000)
    assert not mentions(file, b'"code"')


def test_a_result_has_its_constellation(tmp_path: Path) -> None:
    sets = {"links": [], "flows": [{"from": "Madrid", "to": "Frankfurt", "transfer": "1 kB"}]}
    live = ll.run("leo-iot", duration="1 s", sets=sets)
    kept = ll.load(live.save(tmp_path / "run"))
    assert live.sky().stations == kept.sky().stations == ll.sky("leo-iot").stations
    with pytest.raises(ll.InputError, match="no constellation"):
        ll.run("dumbbell", duration="1 ms").sky()


def test_a_command_needs_little_memory_for_many_listed_flows(tmp_path: Path) -> None:
    # 10,000 flows and links by name, at most 10 kB for a flow with its link.
    (tmp_path / "iot.json").write_text(json.dumps(sky_presets.leo_iot().to_dict()))

    def peak(*arguments: str) -> int:
        """Returns the peak memory of a command in kilobytes."""
        command = subprocess.Popen(
            [sys.executable, "-m", "lightlag", "run", *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
        assert command.returncode == 0
        return usage.ru_maxrss

    few = peak("dumbbell", "--duration", "1 ms", "--json", "--quiet")
    assert peak("iot.json", "--json", "--quiet") - few < 100_000
