"""Signals that end a program, at moments chosen by its progress."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lightlag as ll
from conftest import PAIR

pytestmark = pytest.mark.long


def interrupted(
    what: str, at: int, arguments: list[str], folder: Path, number: str = "SIGINT", program: str = "interrupting.py"
) -> subprocess.CompletedProcess[str]:
    """Runs a command that gets a signal at the n-th event of a kind; see `interrupting.py`."""
    command = [sys.executable, str(Path(__file__).parent / program), number, what, str(at), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def says_so(done: subprocess.CompletedProcess[str], code: int = 130) -> None:
    """Checks that the output is a single message."""
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("error: interrupted"), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_signals_have_their_handler_before_anything_is_loaded(tmp_path: Path) -> None:
    done = interrupted("*", 0, ["list", "papers"], tmp_path)
    *_, loaded, _ = done.stdout.splitlines()
    assert set(loaded.split()) <= {
        "lightlag",
        "lightlag.cli",
        "lightlag.cli.app",
        "lightlag._signals",
        "__future__",
        "_signal",
        "os",
        "sys",
    }


POLARS = """
import os, signal, threading
from concurrent.futures import ThreadPoolExecutor
from lightlag import _signals
_signals.install()
import polars
frame = polars.DataFrame({"a": [number % 1_000 for number in range(300_000)]})
def work():
    while not _signals.asked():
        frame.partition_by("a")
with _signals.held(), ThreadPoolExecutor(4) as threads:
    working = [threads.submit(work) for _ in range(4)]
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    for one in working:
        one.result()
    print("kept", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_tables_that_are_made_are_not_interrupted(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", POLARS], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "kept\n", done.stderr
    says_so(done)


def moments(what: str, arguments: list[str], folder: Path, count: int, program: str = "interrupting.py") -> list[int]:
    """Returns points that are spread over the entire execution of the command."""
    done = interrupted(what, 0, arguments, folder, program=program)
    assert done.returncode == 0, done.stderr
    last = int(done.stdout.splitlines()[-1])
    return sorted({1, 2, 3, last - 1, *(round(last * share / count) for share in range(1, count))})


LONG = ["--set", "duration=400000 s", "--set", "record.trace=sampled", "--set", "record.interval=1 s"]
LONG += ["--set", "record.drops=false"]


def test_ctrl_c_ends_a_run_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    done = interrupted("call:watch", 2, ["run", "dumbbell", "--quiet", *LONG], tmp_path)
    says_so(done)
    assert done.stderr.startswith("error: interrupted at ")
    assert "results/dumbbell; the same command runs it again" in done.stderr
    result = ll.load(tmp_path / "results" / "dumbbell")
    assert result.interrupted
    assert 0 < result.simulated_s < 400_000
    assert len(result.trace()) > 0
    assert result.flows["delivered_bytes"].min() > 0


def test_ctrl_c_of_a_json_run_still_prints_one_object(tmp_path: Path) -> None:
    done = interrupted("call:watch", 2, ["run", "dumbbell", "--json", *LONG], tmp_path)
    says_so(done)
    assert json.loads(done.stdout)["simulated_s"] > 0
    assert not (tmp_path / "results").exists()


def test_ctrl_c_at_any_moment_of_a_run_gives_one_message(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    command = ["run", "pair.toml", "--quiet", "--force"]
    for at in moments("*", command, tmp_path, 8):
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        says_so(interrupted("*", at, command, tmp_path))
        # All results or none, and no other file.
        if (tmp_path / "results").exists():
            assert [path.name for path in (tmp_path / "results").iterdir()] == ["pair"]
            assert ll.load(tmp_path / "results" / "pair").summary["flows"]


def test_ctrl_c_at_any_moment_of_a_comparison_loses_no_run(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    command = ["compare", "pair.toml", "-c", "cubic,newreno", "-n", "3", "--quiet", "--jobs", "1", "--figures", "none"]
    folder = tmp_path / "results" / "pair-compare"
    shares = moments("*", [*command, "--out", "counted"], tmp_path, 8)
    kept = 0
    for at in shares:
        done = interrupted("*", at, command, tmp_path)
        if done.returncode == 2:
            assert ll.load_comparison(folder).is_complete
            break
        says_so(done)
        if folder.exists():
            now = len(ll.load_comparison(folder).outcomes)
            assert now >= kept
            kept = now
            assert [path.name for path in folder.parent.iterdir()] == ["pair-compare"]
        else:
            assert kept == 0
    done = interrupted("import", 10_000_000, command, tmp_path)
    assert done.returncode in (0, 2), done.stderr
    assert len(ll.load_comparison(folder).outcomes) == 6


def test_ctrl_c_during_rendering_leaves_a_complete_report(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    command = ["compare", "pair.toml", "-c", "cubic", "-n", "2", "--quiet", "--jobs", "2", "--figures", "svg"]
    folder = tmp_path / "results" / "pair-compare"
    for what, at in (("call:_draw", 1), ("os.rename:.old", 1), ("call:comparison_page", 1)):
        done = interrupted(what, at, [*command, "--force"], tmp_path)
        says_so(done)
        assert "interrupted at the end: all 2 runs are in results/pair-compare" in done.stderr
        assert (folder / "report.html").read_text().endswith("</html>\n")
        assert [path.name for path in folder.parent.iterdir()] == ["pair-compare"]


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_sigterm_is_as_good_as_ctrl_c(tmp_path: Path, number: str, code: int) -> None:
    says_so(interrupted("import", 60, ["run", "dumbbell", "--quiet"], tmp_path, number), code)
    done = interrupted("call:watch", 2, ["run", "dumbbell", "--quiet", *LONG], tmp_path, number)
    says_so(done, code)
    assert ll.load(tmp_path / "results" / "dumbbell").interrupted


def test_commands_that_write_nothing_say_so(tmp_path: Path) -> None:
    for arguments in (["list", "congestion"], ["schema"], ["explain", "cubic"], ["check", "geo"]):
        for at in (1, 40):
            done = interrupted("import", at, arguments, tmp_path)
            says_so(done)
            assert done.stderr == "error: interrupted; nothing was written\n"


def test_an_interrupted_comparison_continues_where_it_ended(tmp_path: Path) -> None:
    arguments = ["compare", "dumbbell", "-c", "cubic,newreno", "-n", "8", "--figures", "none", "--jobs", "1"]
    arguments += ["--set", "duration=100 s"]
    done = interrupted("call:add", 5, [*arguments, "--quiet"], tmp_path)
    says_so(done)
    assert "the same command continues from there" in done.stderr
    folder = tmp_path / "results" / "dumbbell-compare"
    kept = ll.load_comparison(folder)
    assert 0 < len(kept.outcomes) < 16
    assert not kept.is_complete
    assert [path.name for path in folder.parent.iterdir()] == ["dumbbell-compare"]

    def again(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lightlag", *arguments, *more]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    # Others may not take its place: not a named one, and without a name they take the next.
    done = again("--set", "duration=99 s", "--out", str(folder))
    assert (done.returncode, folder.exists()) == (2, True)
    assert "exists" in done.stderr
    done = again()
    assert done.returncode == 0, done.stderr
    whole = ll.load_comparison(folder)
    assert whole.is_complete
    assert len(whole.outcomes) == 16
    hashes = {(one.congestion, one.seed): one.result_hash for one in whole.outcomes}
    assert all(hashes[one.congestion, one.seed] == one.result_hash for one in kept.outcomes)
    # Complete results stay.
    assert again("--out", str(folder)).returncode == 2


def test_an_interrupted_comparison_draws_no_figures(tmp_path: Path) -> None:
    arguments = ["compare", "dumbbell", "-c", "cubic,newreno", "-n", "8", "--jobs", "1", "--set", "duration=100 s"]
    says_so(interrupted("call:add", 5, [*arguments, "--quiet"], tmp_path))
    names = {path.name for path in (tmp_path / "results" / "dumbbell-compare").iterdir()}
    assert {"runs.csv", "study.toml"} <= names
    assert not {"report.html", "goodput.pdf", "goodput.svg"} & names


def test_what_a_killed_comparison_had_finished_is_not_repeated(tmp_path: Path) -> None:
    arguments = ["compare", "dumbbell", "-c", "cubic", "-n", "8", "--figures", "none", "--quiet", "--jobs", "1"]
    arguments += ["--set", "duration=100 s"]
    process = subprocess.Popen([sys.executable, "-m", "lightlag", *arguments], cwd=tmp_path)
    journal = tmp_path / "results" / ".dumbbell-compare.unfinished.jsonl"
    while not (journal.exists() and journal.read_text().count("\n") >= 3):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=60)
    kept = journal.read_text().splitlines()
    # An impossible value: it is in the result only if the run was not repeated.
    entry = json.loads(kept[0])
    entry["outcome"]["goodput_bps"] = 1.0
    journal.write_text("\n".join([json.dumps(entry), *kept[1:]]))
    subprocess.run([sys.executable, "-m", "lightlag", *arguments], cwd=tmp_path, check=True, timeout=300)
    whole = ll.load_comparison(tmp_path / "results" / "dumbbell-compare")
    assert whole.is_complete
    assert sorted(one.goodput_bps for one in whole.outcomes)[:2][0] == 1.0
    assert not journal.exists()


def test_ctrl_c_ends_a_comparison_in_threads(tmp_path: Path) -> None:
    done = interrupted("call:is_over", 4, ["compare", "dumbbell", "--quiet", "--jobs", "2", *LONG], tmp_path)
    says_so(done)
    assert "nothing was stored" in done.stderr
    assert not (tmp_path / "results").exists()


def test_the_second_signal_ends_whatever_is_done(tmp_path: Path) -> None:
    # The flag is not read here: the function that reads it is replaced.
    program = (
        "import os, signal, sys; sys.argv = ['lightlag']; signal.signal(2, signal.default_int_handler)\n"
        "from lightlag import _signals\n"
        "with _signals.held():\n"
        "    for _ in range(2): os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('not reached')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    says_so(done)
    assert "ended immediately" in done.stderr


def test_a_program_that_imports_lightlag_keeps_its_handlers() -> None:
    program = "import signal; before = signal.getsignal(2); import lightlag; assert signal.getsignal(2) is before"
    subprocess.run([sys.executable, "-c", program], check=True)


PROGRAM = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
# Its handler restarts calls that a signal ends.
import polars
import lightlag as ll
class Late(ll.CongestionControl):
    def on_ack(self, ack):
        # The main thread waits for runs by now.
        if not sent and ack.now_ns > 1000e9:
            sent.append(ack)
            os.kill(os.getpid(), signal.SIGINT)
    def on_congestion(self, event):
        pass
sent = []
net = ll.Network("long")
net.link("a", "b", rate="1 Mbit/s", delay="20 ms")
net.flow("a", "b", congestion=Late)
try:
    vary = {"duration": ["1 s", "50000 s"]}
    ll.compare(net, vary=vary, replications=1, jobs=2, sets={"record.trace": "off"})
except KeyboardInterrupt as error:
    print(len(error.result.outcomes))
"""


def test_ctrl_c_in_a_program_does_not_wait_for_a_run_of_a_comparison(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    program = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); sys.argv = ['lightlag']; import lightlag;"
        "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


PAPERS = "interrupting_papers.py"
REPRODUCE = ["reproduce", "all", "--quiet", "--jobs", "1"]


def finished_papers(folder: Path) -> list[str]:
    """Returns the papers stored next to the results directory."""
    return sorted(path.stem for path in (folder / "results" / ".papers.unfinished").glob("*.json"))


def test_an_interrupted_paper_leaves_those_before_it(tmp_path: Path) -> None:
    # The third paper is at work.
    done = interrupted("call:_prefixed", 3, REPRODUCE, tmp_path, program=PAPERS)
    says_so(done)
    kept = Path("results") / ".papers.unfinished"
    assert done.stderr == (
        f"error: interrupted; 2 of 3 papers had finished and are stored in {kept} (first, second); the same command "
        "continues with the others\n"
    )
    assert finished_papers(tmp_path) == ["first", "second"]
    assert {path.name for path in (tmp_path / kept / "first").iterdir()} == {
        *("run.json", "table.csv", "table1.csv", "report.md", "fig1.png", "fig1.pdf")
    }
    assert [path.name for path in (tmp_path / "results").iterdir()] == [kept.name]
    # With the same number of seeds they continue, with another one they start again.
    other = interrupted("call:_prefixed", 1, [*REPRODUCE, "--seeds", "2"], tmp_path, program=PAPERS)
    assert other.stderr == "error: interrupted; no paper had finished, nothing was written\n"
    assert interrupted("call:_prefixed", 0, REPRODUCE, tmp_path, program=PAPERS).returncode == 0
    assert (tmp_path / "worked").read_text().split() == ["first", "second", "third"]
    whole = tmp_path / "whole"
    whole.mkdir()
    assert interrupted("call:_prefixed", 0, REPRODUCE, whole, program=PAPERS).returncode == 0
    names = sorted(path.relative_to(whole) for path in (whole / "results").rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path) for path in (tmp_path / "results").rglob("*") if path.is_file())
    assert all((whole / name).read_bytes() == (tmp_path / name).read_bytes() for name in names)


def test_ctrl_c_at_any_moment_of_papers_loses_none_that_had_finished(tmp_path: Path) -> None:
    kept = 0
    for at in moments("*", [*REPRODUCE, "--out", "counted"], tmp_path, 9, PAPERS):
        done = interrupted("*", at, REPRODUCE, tmp_path, program=PAPERS)
        if (tmp_path / "results" / "papers").exists():
            break
        says_so(done)
        assert len(finished_papers(tmp_path)) >= kept
        kept = len(finished_papers(tmp_path))
        assert (f"{kept} of 3 papers" in done.stderr) == (kept > 0)
        left = sorted(path.name for path in (tmp_path / "results").iterdir()) if kept else []
        assert left == [".papers.unfinished"] * (kept > 0)
        assert kept or not (tmp_path / "results").exists()
    assert interrupted("*", 0, REPRODUCE, tmp_path, program=PAPERS).returncode == 0
    assert (tmp_path / "results" / "papers" / "index.html").read_text().endswith("</html>\n")
    # If the loop ended with a complete run, this is another one.
    assert {path.name for path in (tmp_path / "results").iterdir()} <= {"papers", "papers-2"}


def test_all_papers_stay_if_the_signal_comes_while_they_are_put_together(tmp_path: Path) -> None:
    done = interrupted("call:page", 1, REPRODUCE, tmp_path, program=PAPERS)
    says_so(done)
    assert done.stderr == f"error: interrupted; all 3 papers are in {Path('results') / 'papers'}\n"
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["papers"]
