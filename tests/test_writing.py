"""The destination of results: a bad one is rejected in advance, old results are swapped, other files are left alone."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR
from lightlag import _engine
from lightlag.cli.app import app
from lightlag.files import writing
from lightlag.machine import memory
from lightlag.outcomes import journal
from lightlag.text.terminal import printable


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(PAIR)
    return CliRunner()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_force_keeps_files_that_are_not_ours(call: CliRunner, result: ll.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "results" / "pair")
    (folder / "notes.txt").write_text("years of work")
    (folder / "more").mkdir()
    (folder / "more" / "thesis.tex").write_text("more of it")
    (folder / "mine.parquet").write_text("another table")
    result.plot("cwnd", folder / "cwnd.pdf")
    assert call.invoke(app, ["run", "pair.toml", "-q", "--force", "--seed", "4"]).exit_code == 0
    assert ll.load(folder).seed == 4
    assert (folder / "notes.txt").read_text() == "years of work"
    assert (folder / "more" / "thesis.tex").read_text() == "more of it"
    assert (folder / "mine.parquet").exists()
    # A figure of the results that went.
    assert not (folder / "cwnd.pdf").exists()
    assert names(folder.parent) == ["pair"]


def test_old_results_stay_if_new_ones_cannot_replace_them(
    result: ll.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = result.save(tmp_path / "pair")
    rename = Path.rename

    def refused(path: Path, target: Any) -> Path:
        if path.suffix == ".partial":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OSError, match="pair: cannot write: Input/output error"):
        result.save(folder, force=True)
    assert ll.load(folder).seed == 3
    assert names(tmp_path) == ["pair"]


def test_what_a_killed_process_left_is_put_in_order(result: ll.Result, tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = result.save(results / "pair")
    # Killed between the two renames of a swap, and while it wrote; another directory has a name that starts alike.
    folder.rename(results / ".pair.123-0.old")
    for left in (".pair.77.partial", ".pair.123-1.partial", ".pair.more.5-0.partial"):
        (results / left).mkdir()
    (results / ".pair.lock").write_text("123")
    with writing.reserved(folder):
        assert ll.load(folder).seed == 3
        assert names(results) == [".pair.lock", ".pair.more.5-0.partial", "pair"]
    assert names(results) == [".pair.more.5-0.partial", "pair"]
    (tmp_path / ".cwnd.pdf.999999999-0.partial").write_text("half a figure")
    result.plot("cwnd", tmp_path / "cwnd.pdf")
    assert names(tmp_path) == ["cwnd.pdf", "results"]


@pytest.mark.parametrize("command", [["run", "pair.toml"], ["compare", "pair.toml", "-c", "cubic", "-n", "1"]])
def test_a_second_command_on_a_directory_is_rejected(call: CliRunner, command: list[str]) -> None:
    Path("results").mkdir()
    with Path("results/.it.lock").open("w") as other:
        other.write("4711")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        done = call.invoke(app, [*command, "-q", "--out", "results/it"])
    assert done.exit_code == 2, done.output
    busy = "results/it: another lightlag (process 4711) is writing there; wait for it, or choose another path"
    assert done.stderr == f"error: {busy} with --out\n"
    assert names(Path("results")) == [".it.lock"]


def test_a_directory_that_cannot_be_written_is_rejected_before_the_run(
    call: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(out: str, part: str) -> None:
        monkeypatch.setattr(_engine, "run", None)
        for command in (["run", "pair.toml"], ["compare", "pair.toml", "-c", "cubic"]):
            done = call.invoke(app, [*command, "--out", out])
            assert (done.exit_code, done.stdout) == (2, ""), done.output
            assert done.stderr.startswith("error: ")
            assert part in done.stderr
        assert names(Path()) == ["pair.toml"]

    refused("x" * 250, "a name in it has 250 bytes, and the limit for results here is")
    refused("y" * 300 + "/deep", "a name in it has 300 bytes")
    refused("", "is not a valid directory name")
    refused("..", "is not a valid directory name")
    refused("pair.toml/deep", "pair.toml: is not a directory")
    with monkeypatch.context() as closed:
        closed.setattr(os, "access", lambda *_: False)
        refused("deep/results", "you have no write permission in ., or its file system is read-only")
    full = shutil.disk_usage(".")._replace(free=4096)
    with monkeypatch.context() as little:
        little.setattr(shutil, "disk_usage", lambda _: full)
        refused("results", "results: not enough disk space: 4.096 kB are free, and the results take 1 MB or more")


def test_a_journal_with_torn_and_foreign_lines_is_read_around_them(tmp_path: Path) -> None:
    pair = ll.Network("pair")
    pair.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    pair.flow("a", "b", transfer="10 kB")
    comparison = ll.compare(pair, ["cubic"], replications=3, duration="10 s")
    lines = [line.encode() for line in journal.lines(zip("xyz", comparison.outcomes, strict=True))]
    foreign = [b"\xff\xfe\x00", b"null", b"7", b"[]", b'"text"', b"{}", b'{"key": 3, "outcome": {}}', b"[" * 50_000]
    foreign += [lines[1][:-40], lines[1].replace(b'"jain":1.0', b'"jain":"one"'), lines[1].replace(b'"y"', b"7")]
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"\n".join([*foreign, lines[0].strip(), *foreign, lines[2]]))
    assert list(journal.read(path)) == ["x", "z"]
    path.write_bytes(lines[0] + lines[1][:30])
    with journal.Journal(path) as written:
        assert list(written.finished) == ["x"]
        written.add("z", comparison.outcomes[2])
    assert list(journal.read(path)) == ["x", "z"]
    # Restarted: the old runs stay until there is a new one.
    with journal.Journal(path, fresh=True) as written:
        assert not written.finished
        assert list(journal.read(path)) == ["x", "z"]
        written.add("y", comparison.outcomes[1])
    assert list(journal.read(path)) == ["y"]


def test_too_many_runs_and_too_large_networks_are_rejected_with_their_memory(
    call: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    thousand = ",".join(f"{at} ms" for at in range(1, 1001))
    vary = [option for key in ("0.delay", "0.jitter") for option in ("--vary", f"links.{key}={thousand}")]
    many = ["compare", "pair.toml", "-c", "cubic", *vary, "-n", "1000000"]
    done = call.invoke(app, many)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "1,000 values of delay × 1,000 values of jitter × 1 algorithm × 1,000,000 seeds: 1,000,000,000,000 runs" in (
        done.stderr
    )
    assert "memory or more, and there are" in done.stderr
    large = "duration = '1 s'\n[topology]\nkind = 'dumbbell'\npairs = 50000\nrate = '1 Gbit/s'\ndelay = '1 ms'\n"
    Path("large.toml").write_text(large)
    monkeypatch.setattr(memory, "available", lambda: 1e8)
    for command in (["run", "large.toml"], ["compare", "large.toml", "-c", "cubic", "-n", "2", "--jobs", "2"]):
        done = call.invoke(app, command)
        assert (done.exit_code, done.stdout) == (2, ""), done.output
        assert "100,001 links and 50,000 flows" in done.stderr
        assert "memory or more, and there are 100 MB; use a smaller network" in done.stderr
    assert names(Path()) == ["large.toml", "pair.toml"]


def test_what_a_terminal_would_act_upon_is_escaped() -> None:
    assert printable("a\x1b[31mb\x07\x7f\x9b\u202e\u2066\u200b\ufeff\ud800c\n") == (
        r"a\x1b[31mb\x07\x7f\x9b\u202e\u2066\u200b\ufeff\ud800c\n"
    )
    assert printable("é µs → ± 日本\n", keep="\n") == "é µs → ± 日本\n"
