"""Readers of results directories, studies and requests of the page: an input is read, or rejected with one line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import lightlag as ll
from files import message_of, put
from lightlag import _engine, course
from lightlag.course.quantity import parse
from lightlag.diagnosis.capture import observe
from lightlag.errors import InputError, ScenarioError
from lightlag.studio.messages import check_types, parsed_message
from lightlag.study.entry import line, parsed

__all__ = ["TARGETS"]

MAX_EVENTS = 500
"""Number of events in a step of a run."""


def _run(data: bytes, folder: Path) -> None:
    """A results directory of a run whose flows and links are tables in Parquet."""
    put(("run.json", "flows.parquet", "links.parquet"), data, folder)
    try:
        result = ll.load(folder)
        assert isinstance(result.summary, dict)
        assert repr(result)
    except InputError as error:
        message_of(error)


def _comparison(data: bytes, folder: Path) -> None:
    """A results directory of a comparison."""
    put(("run.json", "curves.jsonl"), data, folder)
    if not (folder / "curves.jsonl").exists():
        return
    try:
        assert repr(ll.load(folder))
    except InputError as error:
        message_of(error)


def _study(data: bytes, folder: Path) -> None:
    """A study file. If it is valid, it is unchanged after it was written and read again."""
    path = put(("study.toml",), data, folder)
    try:
        study = ll.Study.read(path)
    except (InputError, ScenarioError) as error:
        message_of(error)
        return
    text = study.to_toml(folder)
    path.write_text(text, "utf-8")
    assert ll.Study.read(path).to_toml(folder) == text


def _answers(data: bytes, folder: Path) -> None:
    """A file with the values of a student. If it is valid, each value is checked or rejected; nothing runs."""
    path = put(("answers.toml",), data, folder)
    try:
        answers = course.read_answers(path)
        for question in answers.lab.questions:
            if not question.options and not question.words:
                parse(answers.values.get(question.id, ""), question.unit, question.id)
    except InputError as error:
        message_of(error)


def _store(data: bytes, folder: Path) -> None:
    """A line of a study's journal: incomplete, or a finished run."""
    entry = parsed(data)
    if entry is not None:
        again = parsed(line(entry).encode())
        assert again is not None
        assert line(again) == line(entry)


def _request(data: bytes, folder: Path) -> None:
    """Requests to the engine of the page, one per line. Steps of a run are short."""
    door = _engine.Door()
    for text in data.decode("utf-8", "replace").split("\n"):
        try:
            request = parsed_message(text)
            check_types(request)
        except InputError as error:
            message_of(error)
            continue
        except ValueError:
            continue
        if request.get("op") == "step":
            request["events"] = min(request.get("events") or MAX_EVENTS, MAX_EVENTS)
        del request["id"]
        answer = door.ask(json.dumps(request))
        length = int.from_bytes(answer[:4], "little")
        assert isinstance(json.loads(answer[4 : 4 + length]), dict)


def _diagnosis(data: bytes, folder: Path) -> None:
    """A capture whose transfer is repeated by a scenario."""
    path = put(("real.pcap",), data, folder)
    try:
        found = observe(path)
    except InputError as error:
        message_of(error)
        return
    assert found.real_s > 0
    assert found.sentences()


TARGETS: Mapping[str, Callable[[bytes, Path], None]] = {
    "read_run": _run,
    "read_comparison": _comparison,
    "read_study": _study,
    "read_answers": _answers,
    "read_store": _store,
    "read_diagnosis": _diagnosis,
    "request": _request,
}
