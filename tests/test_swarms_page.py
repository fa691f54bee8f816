"""The examples of ``docs/swarms.md`` run as they are printed there."""

from __future__ import annotations

from pathlib import Path

import pytest

import lightlag as ll
import pages

pytestmark = pytest.mark.long

PAGE = pages.ROOT / "docs" / "swarms.md"


def test_the_page_runs(tmp_path: Path) -> None:
    ran = pages.run(PAGE, tmp_path)
    result = ran.results[0]
    assert result.flows.height == 4
    assert result.interfaces.height == 20
    assert result.positions["node"].unique(maintain_order=True).to_list()[:2] == ["uav1", "uav2"]
    pictures = ("at-10s.png", "airtime.png", "routes.png", "swarm.html", "swarm.png")
    assert all((tmp_path / name).stat().st_size > 10_000 for name in pictures)

    # A flow that is notified of its route is silent for less time.
    waits = ran.names["waits"]
    mean = {elfn: sum(values) / len(values) for elfn, values in waits.items()}
    printed = str({elfn: round(value, 2) for elfn, value in mean.items()})
    assert ran.printed == f"{printed}\n"
    assert f"It prints `{printed}`" in PAGE.read_text("utf-8")
    # A probe each 2 s, and a search of up to 1.2 s.
    assert max(waits[True]) < 3.2
    assert mean[True] < mean[False] / 1.5


@pytest.mark.parametrize("name", ["patrol", "relief"])
def test_scenarios_run(name: str, tmp_path: Path) -> None:
    [block] = [block for block in pages.blocks(PAGE) if f'name = "{name}"' in block.text and block.language == "toml"]
    path = tmp_path / f"{name}.toml"
    path.write_text(block.text)
    result = ll.run(path)
    assert result.flows["goodput_bps"].sum() > 0
    assert result.interfaces["sent_frames"].sum() > 0


def test_flows_that_leave_the_air_at_a_gateway_have_their_complete_path() -> None:
    paths = ll.run("search-and-rescue", duration="30 s").paths
    assert paths["flow"].n_unique() > 1
    for way in paths.partition_by("flow", "time_s", maintain_order=True):
        nodes = way["node"].cast(str).to_list()
        assert nodes[0] == str(way["flow"][0]).removesuffix("->server")
        assert nodes[-2:] == ["gateway", "server"]
        assert way["hops"].unique().to_list() == [len(nodes) - 1]


def test_a_directory_of_results_has_a_page_that_plays(tmp_path: Path) -> None:
    result = ll.run("adhoc-chain", duration="2 s")
    text = (result.save(tmp_path / "run", pages=True) / "swarm.html").read_text("utf-8")
    assert "<title>adhoc-chain, seed 1</title>" in text
    assert '"kind":"flight"' in text
    result.save(tmp_path / "bare")
    assert not (tmp_path / "bare" / "swarm.html").exists()
