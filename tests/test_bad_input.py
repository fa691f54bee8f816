"""Bad input: one clear message with place, value and fix, never a traceback; nothing is run and nothing written."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import lightlag as ll
from bad_inputs import (
    captures,
    custom,
    folders,
    injection,
    keys,
    learning,
    links,
    measurements,
    movements,
    omm,
    options,
    probes,
    python,
    rates,
    schema,
    shown,
    skies,
    structure,
    studies,
    studio,
    text,
    traces,
    writing,
)
from bad_inputs.case import Case
from conftest import PAIR, pair
from lightlag.cli.app import app
from lightlag.text.terminal import printable

MOST_LINES = 51
REMEDY = re.compile(
    r"; |: give|name a file|: say|: name|: unpack|one of|there are|did you mean|such as|from \S+ to|"
    r"between|at least|should be|"
    r"duplicated|does not exist|is not|there is no |instead of|not JSON|not TOML|not a capture|damaged at|holds no|"
    r"is negative|is missing|"
    r"has no key|where the header has|more than|farther than|above|below|less than|too |cannot be|exists already|"
    r"neither|already|Error: |SystemExit: |Missing|No such|Got unexpected"
)
"""Phrases by which a message names a fix or a reason."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ll.run(pair(), duration="30 s", seed=3).save(tmp_path_factory.mktemp("kept") / "pair")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "pair"
    return ll.compare(pair(), ["cubic"], replications=2, duration="9 s").save(folder, formats=(), report=False)


def message(case: Case, runner: CliRunner) -> str:
    """Returns the error message of a case; fails if there is none, or if its form is wrong."""
    if case.call is not None:
        try:
            found = case.call()
        except (ll.ScenarioError, ll.InputError, FileExistsError) as error:
            return str(error)
        raise AssertionError(f"taken for good: {found!r:.100}")
    done = runner.invoke(app, list(case.arguments), prog_name="lightlag")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 2, f"exit code {done.exit_code}: {done.output:.300}"
    assert done.stdout == "", f"stdout: {done.stdout:.100}"
    lines = done.stderr.splitlines()
    assert len(lines) <= MOST_LINES, f"{len(lines)} lines"
    if case.usage:
        assert lines[0].startswith("Usage: "), done.stderr
    else:
        assert all(line.startswith("error: ") for line in lines), done.stderr
    assert done.stderr == printable(done.stderr, keep="\n"), ascii(done.stderr)
    return "\n".join(lines)


def check(case: Case, runner: CliRunner, kept: Path | None) -> None:
    for name, content in (("pair.toml", PAIR), *case.files):
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if kept is not None:
        Path("kept").symlink_to(kept)
    if case.prepare is not None:
        case.prepare()
    before = everything()
    said = message(case, runner)
    assert said.strip()
    for word in ("Traceback", "panicked", "internal error", "RuntimeError", "lightlag_", ".rs:"):
        assert word not in said, said
    assert REMEDY.search(said), f"no fix: {said}"
    for part in case.parts:
        assert part in said, f"{part!r} is not in: {said}"
    assert everything() == before, "a file was written"


def everything() -> list[str]:
    return sorted(str(path) for path in Path().rglob("*"))


MOST_FAILURES = 40
"""Maximum number of cases that a failure lists."""
LEAST_MISTAKES = 4000
"""Minimum number of distinct bad inputs, not counting those that follow from the schema. Errors of one kind at one
place count once. The test checks the number so that no subject and no class of errors is lost unnoticed.
"""
Make = Callable[[pytest.FixtureRequest], Iterable[Case]]
SUBJECTS: dict[str, Make] = {
    "text": lambda _: text.texts(),
    "JSON": lambda _: text.jsons(),
    "values": lambda _: structure.values(),
    "structure": lambda _: structure.structure(),
    "schema": lambda _: schema.keys_of_the_schema(),
    "--set": lambda _: keys.sets(),
    "--vary": lambda _: keys.varied(),
    "options": lambda _: options.flags(),
    "traces": lambda _: traces.traces(),
    "constellations": lambda _: skies.skies(),
    "OMM": lambda _: omm.messages(),
    "measurements": lambda _: measurements.imported(),
    "probes": lambda _: probes.probes(),
    "rates": lambda _: rates.rates(),
    "movements": lambda _: movements.movements(),
    "studies": lambda _: studies.studies(),
    "algorithms": lambda _: custom.algorithms(),
    "studio": lambda request: studio.requests(results(request)[0]),
    "learning": lambda _: learning.environments(),
    "captures": lambda _: captures.captures(),
    "containers": lambda _: links.containers(),
    "figures": lambda _: shown.shown(),
    "folders": lambda request: folders.damaged(*results(request)),
    "writing": lambda _: writing.writing(),
    "injection": lambda _: injection.injected(),
    "Python": lambda request: python.python(results(request)[0]),
}
"""The bad inputs of each subject."""
WITH_RESULTS = ("writing", "figures")
"""Subjects whose cases find results in the directory ``kept``."""


def results(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    return request.getfixturevalue("kept"), request.getfixturevalue("compared")


@pytest.mark.parametrize("name", SUBJECTS)
def test_bad_inputs_are_rejected_clearly(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each call would build all commands again.
    monkeypatch.setattr("typer.testing._get_command", functools.cache(get_command), raising=False)
    runner = CliRunner()
    kept = request.getfixturevalue("kept") if name in WITH_RESULTS else None
    failures, names = [], set()
    for at, case in enumerate(SUBJECTS[name](request)):
        folder = tmp_path / str(at)
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert case.name not in names, f"{case.name}: twice"
        names.add(case.name)
        try:
            check(case, runner, kept)
        except Exception as error:
            failures.append(f"{case.name}: {type(error).__name__}: {str(error)!a:.400}")
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder)
    assert not failures, f"{len(failures)} of {len(names)}:\n" + "\n".join(failures[:MOST_FAILURES])


def test_no_subject_of_bad_inputs_gets_lost(request: pytest.FixtureRequest) -> None:
    counts = {name: len({case.mistake or case.name for case in make(request)}) for name, make in SUBJECTS.items()}
    assert min(counts.values()) >= 10, counts
    assert sum(counts.values()) - counts["schema"] >= LEAST_MISTAKES, counts


def test_all_errors_are_reported_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text(
        PAIR.replace("5 Mbit/s", "5").replace("20 ms", "20").replace("1e-3", "3").replace("2 MB", "2")
    )
    done = CliRunner().invoke(app, ["check", "wrong.toml"])
    places = [line.split(": ")[2] for line in done.stderr.splitlines()]
    assert sorted(places) == ["flows[0].transfer", "links[0].delay", "links[0].loss", "links[0].rate"]


def test_at_most_fifty_errors_are_listed_with_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text(PAIR + '[[flows]]\nfrom = "client"\nto = "nowhere"\n' * 400)
    lines = CliRunner().invoke(app, ["check", "wrong.toml"]).stderr.splitlines()
    assert len(lines) == 51
    assert lines[-1] == "error: wrong.toml: in total: 400 errors; these are the first 50"


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    net = ll.Network("numpy")
    net.link("a", "b", rate="1 Mbit/s", delay="1 ms", loss=np.float64(0.01))
    net.flow("a", "b", transfer="50 kB", tcp={"initial_window": np.int64(4)})
    plain = ll.run(net, duration="30 s", seed=7, sets={"links.0.loss": 0.02})
    same = ll.run(net, duration="30 s", seed=np.int32(7), sets={"links.0.loss": np.float64(0.02)})  # type: ignore[arg-type]
    assert same.scenario == plain.scenario
    found = ll.compare(net, ["cubic"], vary={"links.0.loss": np.array([0.0, 0.01])}, replications=np.int8(1))  # type: ignore[arg-type]
    assert found.points == [("0.0",), ("0.01",)]
