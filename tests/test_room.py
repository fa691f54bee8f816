"""Memory and disk: a run that does not fit is rejected in advance, with numbers; running out of either gives one
message.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR
from lightlag import _engine
from lightlag.cli.app import app
from lightlag.errors import FolderError
from lightlag.files import writing
from lightlag.machine import memory
from lightlag.scenario import read_scenario

# 20 s of 80 Mbit/s: 200 MB of payload at each of two ends.
LARGE = PAIR.replace("5 Mbit/s", "80 Mbit/s").replace("30 s", "20 s").replace('transfer = "2 MB"\n', "")


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    Path("pair.toml").write_text(PAIR)
    Path("large.toml").write_text(LARGE)
    return CliRunner()


def test_results_take_no_more_of_the_disk_than_stated(tmp_path: Path, call: CliRunner) -> None:
    for more in ([], ["record.acks=true"], ["record.pcap.comments=true", "record.acks=true"]):
        sets = [("links.0.rate", "20 Mbit/s"), *(tuple(one.split("=")) for one in more)]
        result = ll.run("pair.toml", sets=sets, spool=tmp_path)  # type: ignore[arg-type]
        folder = result.save(tmp_path / "out", force=True)
        written = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        said = read_scenario("pair.toml", sets).results_size() + writing.SPARE_BYTES  # type: ignore[arg-type]
        assert written <= said, more
    # With captures it is little more.
    assert said < 2 * written


CROWD = """
duration = "5 s"
[topology]
kind = "dumbbell"
pairs = 100
rate = "20 Mbit/s"
delay = "20 ms"
"""


def test_flows_that_share_a_link_take_no_more_of_the_disk_than_stated(tmp_path: Path, call: CliRunner) -> None:
    Path("crowd.toml").write_text(CROWD)
    folder = ll.run("crowd.toml", spool=tmp_path).save(tmp_path / "out")
    written = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert written <= read_scenario("crowd.toml").results_size() < 10 * written


def test_a_run_that_does_not_fit_on_the_disk_is_rejected(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    space = shutil.disk_usage(".")._replace(free=300_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: space)
    assert call.invoke(app, ["run", "pair.toml", "-q", "--pcap"]).exit_code == 0
    with monkeypatch.context() as context:
        context.setattr(_engine, "run", None)
        done = call.invoke(app, ["run", "large.toml", "-q", "--pcap", "--out", "saved"])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(
            "error: saved: not enough disk space: 300 MB are free, and the results may take 4"
        )
        assert done.stderr.endswith("; record less, run for a shorter time, or choose another path\n")
        with pytest.raises(FolderError, match=r"300 MB are free, and the results may take 459.8 MB"):
            ll.run("large.toml", sets={"record.pcap.comments": False})
        many = ["compare", "pair.toml", "-c", "cubic", "-n", "20000", "--out", "saved"]
        done = call.invoke(app, many)
        assert (done.exit_code, done.stdout) == (2, ""), done.output
        assert "saved: not enough disk space: 300 MB are free, and the results may take 482 MB; " in done.stderr
    assert not Path("saved").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 20 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk takes root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_small_disk_takes_what_fits_and_rejects_the_rest(call: CliRunner, small_disk: Path) -> None:
    done = call.invoke(app, ["run", "large.toml", "-q", "--pcap", "--out", str(small_disk / "large")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "not enough disk space: 20.97 MB are free, and the results may take 459.8 MB" in done.stderr, done.stderr
    done = call.invoke(app, ["run", "pair.toml", "-q", "--pcap", "--out", str(small_disk / "pair")])
    assert done.exit_code == 0, done.output
    assert [path.name for path in small_disk.iterdir()] == ["pair"]


def test_a_run_ends_with_a_message_before_the_memory_does(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    long = ["large.toml", "-q", "--set", "duration=30000 s"]
    for command in (["run", *long], ["compare", *long, "-c", "cubic", "-n", "2", "-j", "1"]):
        left = iter([1e9] * 6)
        with monkeypatch.context() as little:
            little.setattr(memory, "available", lambda left=left: next(left, 1e6))
            done = call.invoke(app, command)
        assert (done.exit_code, done.stdout) == (1, ""), done.output
        *warnings, error = done.stderr.splitlines()
        assert error == ("error: out of memory; use a smaller scenario, record less, or use fewer --jobs")
        assert all(line.startswith("warning: record: ") for line in warnings)
    assert sorted(path.name for path in Path().iterdir()) == ["large.toml", "pair.toml"]


# The disk has enough space.
LIMITED = """
import re, resource, shutil, sys
from pathlib import Path
from lightlag.cli import app
from lightlag.machine import memory
megabytes, blind = int(sys.argv[1]), sys.argv[2] == "blind"
taken = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * 1_000_000,) * 2)
space = shutil.disk_usage(".")._replace(free=10**18)
shutil.disk_usage = lambda _: space
if blind:
    memory.available = lambda: float("inf")
sys.argv = ["lightlag", *sys.argv[3:]]
app.main()
"""


def limited(megabytes: int, *arguments: str, blind: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs a command whose memory may grow by this amount. If `blind` is true, the command cannot see the limit."""
    options = [str(megabytes), "blind" if blind else "", *arguments]
    return subprocess.run([sys.executable, "-c", LIMITED, *options], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory as Linux has them")
def test_under_a_limit_of_memory_there_is_one_message(call: CliRunner) -> None:
    large = "duration = '1 s'\n[topology]\nkind = 'dumbbell'\npairs = 200000\nrate = '1 Gbit/s'\ndelay = '1 ms'\n"
    Path("network.toml").write_text(large)
    done = limited(400, "run", "network.toml", "-q")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith(
        "error: 400,001 links and 200,000 flows would take 450.8 MB of memory or more, and there"
    )
    # The size is not detected in advance, and the allocator fails.
    nothing = ["--set", "record.trace=off", "--set", "record.queue=off"]
    done = limited(400, "run", "network.toml", "-q", *nothing, blind=True)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith("error: out of memory: ")
    assert done.stderr.count("\n") == 1, done.stderr
    # Rows that grow in a run.
    rows = ["--set", "record.interval=3 us", "--set", "record.trace=sampled", "--set", "record.queue=off"]
    done = limited(300, "run", "large.toml", "-q", *rows)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "memory or more, and there " in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    done = limited(300, "run", "large.toml", "-q", *rows, blind=True)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: out of memory: ")


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "many.toml", "-c", "cubic,reno", "-n", "2", "--jobs", "2"],
        ["study", "run", "study.toml", "--jobs", "2"],
        ["study", "run", "study.toml", "--processes", "2"],
    ],
    ids=["compare", "study", "processes"],
)
def test_simultaneous_runs_are_rejected_by_their_total_memory(
    call: CliRunner, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    Path("many.toml").write_text(CROWD.replace("pairs = 100", "pairs = 1000").replace("5 s", "1 s"))
    Path("study.toml").write_text('scenarios = ["many.toml"]\ncongestion = ["cubic", "reno"]\nreplications = 2\n')
    # One fits, and two do not.
    network = read_scenario("many.toml").counts()[2]
    monkeypatch.setattr(memory, "available", lambda: 1.5 * network)
    before = sorted(Path().iterdir())
    done = call.invoke(app, command)
    assert done.exit_code == 2, done.output
    assert "in each of 2 runs at the same time would take" in done.output
    assert sorted(Path().iterdir()) == before


def test_the_largest_runs_of_a_plan_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag.outcomes.plan import make

    net = {"duration": "1 s", "topology": {"kind": "point-to-point", "rate": "1 Gbit/s", "delay": "10 ms"}}
    plan = make(net, ["cubic"], {"topology.flow.count": [10, 20_000]}, 2, [])
    monkeypatch.setattr(memory, "available", lambda: 100e6)
    with pytest.raises(
        ll.InputError, match=r"20,000 flows, .* in the largest of 4 runs at the same time; they would take 110"
    ):
        memory.check_plan(plan, 8)


def test_tables_of_several_runs_are_warned_of_together(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag.outcomes.plan import make

    monkeypatch.setattr(memory, "available", lambda: 100e9)
    plan = make("iridium", ["cubic"], {}, 4, [("duration", "3 h")])
    assert memory.check_plan(plan, 1) == []
    ((place, message),) = memory.check_plan(plan, 4)
    assert place == "record"
    assert "in each of 4 runs at the same time may take up to 3.8" in message
