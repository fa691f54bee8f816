"""Files that commands write: devices, pipes, links, inputs and files of others; and output that cannot be printed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import lightlag as ll
from conftest import PAIR, Lightlag

pytestmark = pytest.mark.long

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A line of bash in a directory with pair.toml, where $LL is the command."""
    (tmp_path / "pair.toml").write_text(PAIR)

    def line(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", text],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "LL": f"{sys.executable} -m lightlag", **environment},
            check=False,
        )

    return line


COMMANDS = {
    "run": ("$LL run pair.toml -o out", ll.load),
    "json": ("$LL run pair.toml -o out --json", ll.load),
    "compare": ("$LL compare pair.toml -c cubic -n 2 -o out", ll.load_comparison),
    "study": ("$LL study run study.toml -o out", ll.open_study),
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("output", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "it is closed"), (">&$gone", "Broken pipe")],
)
def test_results_are_saved_though_nothing_can_be_printed(
    shell: Shell, tmp_path: Path, command: str, output: str, reason: str
) -> None:
    (tmp_path / "study.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic"]\nreplications = 2\n')
    line, load = COMMANDS[command]
    # A pipe whose reader has gone.
    done = shell(f"exec {{gone}}> >(:); wait $!; {line} {output}")
    assert done.returncode == 1, done.stderr
    expected = f"error: standard output: cannot print: {reason}; files were written as usual"
    assert expected in done.stderr.splitlines()
    load(tmp_path / "out")


def test_a_replay_is_saved_though_nobody_reads_its_tables(shell: Shell, tmp_path: Path) -> None:
    capture = Path(__file__).parent / "data" / "captures" / "linux-cubic-sender.pcap"
    done = shell(f"exec {{gone}}> >(:); wait $!; $LL replay {capture} -o out >&$gone")
    assert "error: standard output: cannot print: Broken pipe; files were written as usual" in done.stderr
    ll.load(tmp_path / "out")


def test_a_failure_to_print_replaces_the_old_results_all_the_same(shell: Shell, tmp_path: Path) -> None:
    assert shell("$LL run pair.toml -o out -q").returncode == 0
    assert shell("$LL run pair.toml -o out --force --seed 4 >/dev/full").returncode == 1
    assert ll.load(tmp_path / "out").seed == 4


def test_characters_that_the_encoding_lacks_are_replaced(shell: Shell, tmp_path: Path) -> None:
    done = shell("$LL compare pair.toml -c cubic -n 2 -o out", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pair: mean +/- 95 % interval" in done.stdout
    ll.load_comparison(tmp_path / "out")


def test_closed_and_full_standard_error_change_nothing(shell: Shell, tmp_path: Path) -> None:
    for at, error in enumerate(("2>&-", "2>/dev/full", "<&- 2>&-")):
        done = shell(f"$LL run pair.toml -o out{at} {error}")
        assert done.returncode == 0
        assert f"results in out{at}" in done.stdout
        ll.load(tmp_path / f"out{at}")


@pytest.fixture
def results(lightlag: Lightlag, pair_file: Path) -> Path:
    assert lightlag("run", "pair.toml", "-q", "-o", "one").returncode == 0
    return pair_file.with_name("one")


WRITERS = {
    "run": ("run", "pair.toml", "-q", "-o", "new", "-f", "--acks"),
    "report": ("report", "one", "-f", "-o"),
    "plot": ("plot", "one", "-f", "--format", "svg", "-o"),
    "new": ("new", "scenario", "mine", "-f", "-o"),
}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_device_is_written_to_and_stays(lightlag: Lightlag, results: Path, writer: str) -> None:
    device = results.with_name("null")
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    done = lightlag(*WRITERS[writer], "null")
    assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_pipe_is_written_to_and_stays(lightlag: Lightlag, results: Path, writer: str) -> None:
    pipe = results.with_name("pipe")
    os.mkfifo(pipe)
    done = lightlag(*WRITERS[writer], "pipe")
    assert (done.returncode, done.stderr) == (
        2,
        "error: pipe: is a pipe that no process reads; start its reader first\n",
    )
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    done = lightlag(*WRITERS[writer], "pipe")
    reader.join()
    assert done.returncode == 0, done.stderr
    assert read[0]
    assert pipe.is_fifo()


@pytest.mark.parametrize("writer", WRITERS)
def test_the_target_of_a_link_is_replaced_and_the_link_stays(lightlag: Lightlag, results: Path, writer: str) -> None:
    (results.with_name("far")).mkdir()
    target = results.with_name("far") / "target"
    target.write_text("before")
    target.chmod(0o640)
    link = results.with_name("link.svg")
    link.symlink_to("far/target")
    assert lightlag(*WRITERS[writer], "link.svg").returncode == 0
    assert link.readlink() == Path("far/target")
    assert target.read_text() != "before"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in target.parent.iterdir()] == ["target"]


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_others_need_force(lightlag: Lightlag, results: Path, writer: str) -> None:
    notes = results.with_name("notes.svg")
    notes.write_text("years of work")
    careful = [word for word in WRITERS[writer] if word != "-f"]
    done = lightlag(*careful, "notes.svg")
    assert done.returncode == 2
    assert done.stderr.startswith("error: notes.svg: exists already")
    assert notes.read_text() == "years of work"
    assert lightlag(*WRITERS[writer], "notes.svg").returncode == 0
    assert notes.read_text() != "years of work"


@pytest.mark.parametrize("name", ["page", "figure.pdf", "figure.svg", "figure.png", "figure.pgf"])
def test_its_own_files_are_replaced_without_force(lightlag: Lightlag, results: Path, name: str) -> None:
    writer = ("report", "one", "-o") if name == "page" else ("plot", "one", "-o")
    for _ in range(2):
        done = lightlag(*writer, name)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (("run", "pair.toml", "-o", "new", "--acks", "pair.toml"), "pair.toml"),
        (("run", "pair.toml", "-o", "new", "--acks", "link"), "pair.toml"),
        (("run", "one", "-o", "new", "--acks", "one/run.json"), "one/run.json"),
        (("run", "one", "-o", "one"), "one/run.json"),
        (("report", "one", "-o", "one/run.json"), "one/run.json"),
        (("import", "ping.txt", "--rate", "1 Mbit/s", "-o", "ping.txt"), "ping.txt"),
    ],
)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_inputs_are_never_replaced(
    lightlag: Lightlag, results: Path, command: tuple[str, ...], kept: str, force: tuple[str, ...]
) -> None:
    (results.with_name("link")).symlink_to("pair.toml")
    lines = (f"64 bytes from 192.0.2.1: icmp_seq={at} ttl=64 time=20.{at} ms\n" for at in range(1, 9))
    (results.with_name("ping.txt")).write_text(f"PING a (192.0.2.1) 56(84) bytes of data.\n{''.join(lines)}")
    before = (results.parent / kept).read_bytes()
    done = lightlag(*command, *force)
    assert done.returncode == 2, done.stdout
    assert (results.parent / kept).read_bytes() == before


def test_a_figure_goes_to_standard_output(lightlag: Lightlag, results: Path) -> None:
    done = lightlag("plot", "one", "--format", "svg", "-o", "-")
    assert done.stdout.startswith("<?xml")
    assert done.stdout.endswith("</svg>\n")
    done = lightlag("report", "one", "-o", "-")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.endswith("</html>\n")


def test_the_current_directory_is_not_replaced(lightlag: Lightlag, results: Path) -> None:
    done = lightlag("run", "../pair.toml", "-q", "-f", "-o", "../one", cwd=results)
    assert done.returncode == 2
    assert "is the current directory" in done.stderr


def test_standard_output_and_error_stay_in_order_in_one_pipe(shell: Shell) -> None:
    code = """if True:
        import sys
        from lightlag.cli.printing import streams
        with streams():
            for number in range(6):
                print(number, file=[sys.stdout, sys.stderr][number % 2])
    """
    done = shell(f"{sys.executable} -c '{code}' 2>&1 | cat")
    assert done.stdout.split() == ["0", "1", "2", "3", "4", "5"]
