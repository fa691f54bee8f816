"""Commands that are rejected change nothing, and no input causes an internal error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag import analyse

STUDY = 'scenarios = ["pair.toml"]\ncongestion = ["cubic"]\nreplications = 2\n'


@pytest.mark.parametrize(
    "addition", [("-c", "nonsense"), ("--vary", "links.9.loss=1"), ("--vary", "links.0.loss=2"), ("--scenario", "none")]
)
def test_an_addition_that_cannot_be_run_leaves_the_study_as_it_was(
    lightlag: Lightlag, pair_file: Path, addition: tuple[str, str]
) -> None:
    study = pair_file.with_name("study.toml")
    study.write_text(STUDY)
    done = lightlag("study", "add", "study.toml", *addition)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert study.read_text() == STUDY
    assert sorted(path.name for path in study.parent.iterdir()) == ["pair.toml", "study.toml"]


@pytest.mark.parametrize(
    ("study", "options"),
    [
        (STUDY.replace("cubic", "nonsense"), ()),
        (STUDY, ("--cluster", "slurm")),
        (STUDY, ("--jobs", "2", "--processes", "2")),
        (f'name = "a\\u0000b"\n{STUDY}', ()),
        (STUDY, ("--out", "pair.toml/deep")),
    ],
)
def test_a_rejected_study_leaves_nothing(
    lightlag: Lightlag, pair_file: Path, study: str, options: tuple[str, ...]
) -> None:
    file = pair_file.with_name("study.toml")
    file.write_text(study)
    done = lightlag("study", "run", "study.toml", *options)
    assert done.returncode == 2, done.stdout
    assert "internal error" not in done.stderr
    assert sorted(path.name for path in file.parent.iterdir()) == ["pair.toml", "study.toml"]


@pytest.mark.parametrize("command", ["report", "plot"])
def test_the_store_of_a_study_can_be_named(lightlag: Lightlag, pair_file: Path, command: str) -> None:
    pair_file.with_name("study.toml").write_text(STUDY)
    done = lightlag("study", "run", "study.toml", "-q", "-o", "out", "--store", "kept")
    assert done.returncode == 0, done.stderr
    done = lightlag(command, "out")
    assert (done.returncode, done.stderr) == (
        2,
        "error: store: holds no store; name the one of the study with --store\n",
    )
    assert lightlag(command, "out", "--store", "kept").returncode == 0


def test_a_study_does_not_replace_the_results_of_a_run(result: ll.Result, tmp_path: Path, net: ll.Network) -> None:
    folder = result.save(tmp_path / "one")
    study = ll.Study(net, congestion=["cubic"], replications=1, set={"duration": "5 s"})
    with pytest.raises(FileExistsError, match="holds other results"):
        study.run(folder, progress=False)
    assert ll.load(folder).seed == 3
    assert not (tmp_path / "store").exists()


def test_results_that_cannot_get_their_name_back_are_named(
    result: ll.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = result.save(tmp_path / "one")
    rename = Path.rename

    def refused(path: Path, target: Any) -> Path:
        if path.suffix in (".partial", ".old"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OSError, match="the earlier results could not be renamed back") as raised:
        result.save(folder, force=True)
    (old,) = tmp_path.glob(".one.*.old")
    assert str(old) in str(raised.value)
    assert ll.load(old).seed == 3


@pytest.mark.parametrize(
    "variable", ["MPLBACKEND=nonsense", "SOURCE_DATE_EPOCH=abc", "POLARS_MAX_THREADS=0", "COLUMNS=abc", "TMPDIR=/none"]
)
def test_a_wrong_variable_is_rejected_clearly_or_has_no_effect(
    result: ll.Result, tmp_path: Path, variable: str
) -> None:
    result.save(tmp_path / "one")
    name, _, value = variable.partition("=")
    done = subprocess.run(
        [sys.executable, "-m", "lightlag", "plot", "one"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, name: value},
        check=False,
    )
    assert "internal error" not in done.stderr
    assert done.returncode == 0 or done.stderr.startswith(f"error: {name}: ")


def test_a_mapping_that_contains_itself_is_rejected() -> None:
    circular: dict[str, Any] = {"name": "circle"}
    circular["links"] = [circular]
    for call in (ll.run, lambda it: ll.compare(it, ["cubic"]), lambda it: ll.Study(it).plan()):
        with pytest.raises(ll.InputError, match="contains itself"):
            call(circular)


@pytest.mark.parametrize("interval_s", [1e-300, 0, -1.0, float("nan"), float("inf"), 10**400, "x", None])
def test_goodput_takes_a_reasonable_interval(result: ll.Result, interval_s: Any) -> None:
    with pytest.raises(ll.InputError, match="interval_s: "):
        result.goodput(interval_s)
    with pytest.raises(ll.InputError, match="interval_s: "):
        analyse.goodput(result.trace("goodput"), interval_s)


def test_results_in_a_directory_that_is_not_utf8_are_read(lightlag: Lightlag, pair_file: Path) -> None:
    name = os.fsdecode(b"\xff")
    assert lightlag("run", "pair.toml", "-q", "-o", name).returncode == 0
    assert lightlag("diff", name, name).returncode == 0
    assert lightlag("run", "pair.toml", "-q", "-o", "two", "-s", f"name={name}").returncode == 2


def test_more_jobs_than_any_machine_has_are_rejected(lightlag: Lightlag, pair_file: Path) -> None:
    for command in (("run", "pair.toml"), ("compare", "pair.toml", "-c", "cubic")):
        done = lightlag(*command, "-j", 10**30)
        assert done.returncode == 2
        assert "is out of range: give 1 to 4096" in done.stderr
